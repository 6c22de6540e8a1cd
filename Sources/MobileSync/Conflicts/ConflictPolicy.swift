import JSON

/// Decides conflicts by the names of their fields, without code: the option `resolve` of a sync with ``MergeMode/merge``.
public struct ConflictPolicy: Sendable, Equatable {
  public enum Side: String, Sendable, CaseIterable {
    /// The local value wins and is sent.
    case local
    /// The server's value wins; the local change is lost.
    case server
    /// A person decides.
    case ask
  }

  /// The side of each field that is named. Names are compared byte by byte.
  private var sides: [(field: String, side: Side)]
  /// The side of the other fields.
  public var others: Side

  public init(_ sides: [String: Side] = [:], others: Side = .ask) {
    self.sides = sides.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    self.others = others
  }

  public static func == (a: ConflictPolicy, b: ConflictPolicy) -> Bool {
    a.others == b.others && a.sides.elementsEqual(b.sides) { $0.field.hasSameBytes(as: $1.field) && $0.side == $1.side }
  }

  /// The reason of a resolved conflict in the history.
  static let reason = "policy"

  /// The name that stands for the fields that have none.
  private static let rest = "*"

  /// - Throws: ``SyncError`` `.invalidOptions`, whose `place` leads to the mistake.
  init(_ json: JSONValue) throws(SyncError) {
    self.init()
    guard let members = json.objectValue else {
      throw SyncError(
        .invalidOptions,
        "options: resolve must be an object such as {\"Phone\": \"server\", \"*\": \"ask\"}, got \(json.shownKind)")
    }
    for (field, value) in members {
      let side = try Self.side(value, of: field)
      if field == Self.rest { others = side } else { sides.append((field, side)) }
    }
  }

  private static func side(_ value: JSONValue, of field: String) throws(SyncError) -> Side {
    guard !field.isEmpty else {
      throw SyncError(.invalidOptions, "options: resolve has a field without a name; '*' is all others").at(.key(field))
    }
    guard let word = value.stringValue, let side = Side(rawValue: word) else {
      let hint = value.stringValue.map { NearestName.hint(for: $0, among: Side.allCases.map(\.rawValue)) } ?? ""
      let shown = value.stringValue.map { "'\($0)'" } ?? value.kindName
      throw SyncError(.invalidOptions, "options: resolve: '\(field)' must be local, server or ask, got \(shown)\(hint)")
        .at(.key(field))
    }
    return side
  }

  public func side(of field: String) -> Side { sides.first { $0.field.hasSameBytes(as: field) }?.side ?? others }

  var json: JSONValue {
    var members = JSONObject(sides.map { ($0.field, .string($0.side.rawValue)) })
    members[Self.rest] = .string(others.rawValue)
    return .object(members)
  }

  /// Returns a sentence about a name that is probably a mistyped one of these fields; nil if there is none.
  /// - Parameters:
  ///   - fields: Fields that a person has to decide.
  ///   - known: The members of the record on both sides.
  func misspelling(of fields: [String], among known: (String) -> Bool) -> String? {
    for (name, _) in sides where !known(name) {
      guard let field = NearestName.find(name, among: fields) else { continue }
      return "the option 'resolve' names '\(name)', and no record has it; did you mean '\(field)'?"
    }
    return nil
  }
}
