import JSON

/// What to do if both sides changed a record.
public enum MergeMode: String, Sendable, CaseIterable {
  /// The write overwrites the change on the other side.
  case overwrite = "OVERWRITE"
  /// The change on the other side is kept. A sync up decides by the fields if the base of an entry
  /// is known, else by the modification dates. It compares every batch right before sending it, and
  /// an update sends only the fields that were changed locally. Between the comparison and the
  /// request others may still change the same field: with a target of type `plain` or `batch` the
  /// server compares again, with `collection` it does not.
  case leaveIfChanged = "LEAVE_IF_CHANGED"
  /// A three-way merge, field by field: changes of one side are taken; fields that both sides
  /// changed to different values are a conflict.
  case merge = "MERGE"
}

/// The options of a sync.
public struct SyncOptions: Sendable, Equatable {
  public var mergeMode: MergeMode
  /// The fields to send, if the sync up target has no list of its own. A sync down ignores it.
  public var fieldlist: [String]?
  /// The name of a conflict resolver: one that is registered with the manager, or a function of a
  /// script. With ``MergeMode/merge`` only.
  public var resolver: String?
  /// Decides conflicts without code, in place of a resolver. With ``MergeMode/merge`` only.
  public var resolve: ConflictPolicy?
  /// The maximum number of pages of one run of a sync down, which then ends as STOPPED;
  /// ``SyncManager/more(_:onConflict:onUpdate:)`` continues. nil: as many as the target allows.
  public var maxPages: Int?
  /// Milliseconds before progress is shown to users; nil for the default.
  public var graceMs: Int?

  public init(mergeMode: MergeMode = .overwrite, fieldlist: [String]? = nil, resolver: String? = nil) {
    self.mergeMode = mergeMode
    self.fieldlist = fieldlist
    self.resolver = resolver
  }

  package static let keys = KnownKeys(["mergeMode", "fieldlist", "resolver", "resolve", "maxPages", "graceMs"])

  /// Parses options from a script or a file. An unknown key is an error, because its intent would
  /// be ignored.
  /// - Throws: ``SyncError`` `.invalidOptions`, naming the key.
  public init(checking json: JSONObject?) throws(SyncError) {
    if let unknown = json.flatMap(Self.keys.unknown(in:)) {
      throw SyncError(.invalidOptions, "options: '\(unknown.key)' \(unknown.complaint)").at(.key(unknown.key))
    }
    try self.init(json)
  }

  /// Parses stored options. Ignores unknown keys, because a later version may have written them.
  /// - Parameter json: nil and a missing `mergeMode` mean `OVERWRITE`.
  /// - Throws: ``SyncError`` `.invalidOptions`, naming the key.
  public init(_ json: JSONObject?) throws(SyncError) {
    self.init()
    guard let json else { return }
    if let word = json["mergeMode"], !word.isNull {
      guard let mode = word.stringValue.flatMap(MergeMode.init(rawValue:)) else {
        let shown = word.stringValue.map { "'\($0)'" } ?? word.kindName
        throw SyncError(.invalidOptions, "options: mergeMode must be OVERWRITE, LEAVE_IF_CHANGED or MERGE, got \(shown)")
          .at(.key("mergeMode"))
      }
      mergeMode = mode
    }
    fieldlist = try SyncOptions.fieldlist(json["fieldlist"]) {
      SyncError(.invalidOptions, "options: fieldlist " + $0).at(.key("fieldlist"))
    }
    maxPages = try SyncOptions.count(json, "maxPages", from: 1)
    graceMs = try SyncOptions.count(json, "graceMs", from: 0)
    if let name = json["resolver"], !name.isNull {
      resolver = try SyncError.at(.key("resolver")) { () throws(SyncError) in try SyncOptions.resolver(name, mergeMode) }
    }
    if let policy = json["resolve"], !policy.isNull {
      resolve = try SyncError.at(.key("resolve")) { () throws(SyncError) in try policyBesideResolver(policy) }
    }
  }

  private func policyBesideResolver(_ json: JSONValue) throws(SyncError) -> ConflictPolicy {
    let policy = try ConflictPolicy(json)
    guard mergeMode == .merge else {
      throw SyncError(.invalidOptions, "options: resolve decides conflicts of mergeMode MERGE, not of \(mergeMode.rawValue)")
    }
    guard resolver == nil else {
      throw SyncError(.invalidOptions, "options: resolve and resolver exclude one another: a resolver decides every conflict")
    }
    return policy
  }

  private static func count(_ json: JSONObject, _ key: String, from least: Int64) throws(SyncError) -> Int? {
    guard let value = json[key], !value.isNull else { return nil }
    guard let count = value.integerValue, (least...1_000_000_000).contains(count) else {
      throw SyncError(.invalidOptions, "options: '\(key)' must be an integer from \(least) on, got \(value.text)").at(.key(key))
    }
    return Int(count)
  }

  private static func resolver(_ json: JSONValue, _ mergeMode: MergeMode) throws(SyncError) -> String {
    guard let name = json.stringValue, !name.isEmpty else {
      throw SyncError(.invalidOptions, "options: resolver must be a resolver's name, got \(json.shownKind)")
    }
    guard mergeMode == .merge else {
      throw SyncError(
        .invalidOptions, "options: resolver '\(name)' decides conflicts of mergeMode MERGE, not of \(mergeMode.rawValue)")
    }
    return name
  }

  /// Names of a list of fields: five times what an object of an org can have. Each record is searched
  /// for each.
  private static let mostFields = 5000

  /// Parses a list of field names, an array or one string with commas; returns nil if it is missing
  /// or null.
  static func fieldlist(_ json: JSONValue?, _ failure: (String) -> SyncError) throws(SyncError) -> [String]? {
    guard let json, !json.isNull else { return nil }
    if let text = json.stringValue {
      // White space around a comma is not part of a name.
      let fields = text.split(separator: ",", omittingEmptySubsequences: false)
        .map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
      guard fields.count <= mostFields else { throw failure("can have \(mostFields) names at most") }
      guard !fields.contains("") else { throw failure("must have a field name on each side of its commas, got '\(text)'") }
      return fields
    }
    guard let elements = json.arrayValue else {
      throw failure("must be an array of field names, or a string of them with commas, got \(json.kindName)")
    }
    guard elements.count <= mostFields else { throw failure("can have \(mostFields) names at most") }
    var fields: [String] = []
    for element in elements {
      guard let field = element.stringValue else { throw failure("must contain only field names, found \(element.kindName)") }
      fields.append(field)
    }
    return fields
  }

  public var json: JSONObject {
    var json = JSONObject()
    if let fieldlist { json["fieldlist"] = .array(fieldlist.map { .string($0) }) }
    json["mergeMode"] = .string(mergeMode.rawValue)
    if let resolver { json["resolver"] = .string(resolver) }
    if let resolve { json["resolve"] = resolve.json }
    if let maxPages { json["maxPages"] = .integer(Int64(maxPages)) }
    if let graceMs { json["graceMs"] = .integer(Int64(graceMs)) }
    return json
  }
}
