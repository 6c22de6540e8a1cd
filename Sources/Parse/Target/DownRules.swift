import JSON
import MobileSync

/// What a sync down requests.
struct DownRules: Sendable {
  enum Ghosts: String, Sendable, CaseIterable {
    /// Read all ids of the class.
    case walk
    /// Ask the server for the local ids.
    case check
    case none
  }

  /// The condition, validated and rewritten so that the server evaluates it as intended.
  let condition: ParseCondition
  /// nil for all columns.
  let columns: [String]?
  let include: [PointerRule]
  let pageSize: Int
  /// How far later runs look back, in ms.
  let overlapMs: Int64
  let ghosts: Ghosts

  static let keys = ["where", "keys", "include", "pageSize", "overlapMs", "ghosts"]

  /// - Throws: ``SyncError`` `.invalidTarget`, which names the key.
  init(_ json: JSONObject, _ target: ParseTarget) throws(SyncError) {
    let reader = TargetReader(json: json, label: ParseTarget.label)
    var asked = JSONObject()
    if let value = json["where"], !value.isNull, value.arrayValue?.isEmpty != true { asked = try reader.object("where") }
    let wanted = asked
    condition = try ParseTarget.checked("where") { () throws(ParseProblem) in
      ParseCondition(try ConditionCheck(relationFields: target.relationFields).checked(wanted))
    }
    columns = try ParseTarget.columns(json, "keys", of: target.className)
    include = try (try ParseTarget.columns(json, "include", of: target.className) ?? []).map { (field) throws(SyncError) in
      guard let rule = target.pointer(field), rule.soup != nil else {
        throw ParseTarget.wrong("include", "'include' names '\(field)', which 'pointers' must list with its 'soup'")
      }
      return rule
    }
    pageSize = try Self.number(json, "pageSize", Tuning.pageSize, 1...Tuning.largestPage)
    overlapMs = Int64(try Self.number(json, "overlapMs", Int(Tuning.overlapMs), 0...86_400_000))
    let word = try reader.optionalString("ghosts") ?? Ghosts.walk.rawValue
    guard let ghosts = Ghosts(rawValue: word) else {
      throw ParseTarget.wrong("ghosts", "'ghosts' must be one of 'walk', 'check', 'none', got '\(word)'")
    }
    self.ghosts = ghosts
  }

  private static func number(
    _ json: JSONObject, _ key: String, _ usual: Int, _ range: ClosedRange<Int>
  ) throws(SyncError) -> Int {
    guard let value = json[key], !value.isNull else { return usual }
    guard let number = value.integerValue.flatMap({ Int(exactly: $0) }), range.contains(number) else {
      throw ParseTarget.wrong(
        key, "'\(key)' must be an integer from \(range.lowerBound) to \(range.upperBound), got \(value.text)")
    }
    return number
  }

  /// The query for pages. The server always adds its own columns.
  func query(_ target: ParseTarget) throws(SyncError) -> ParseQuery {
    var query = try ParseTarget.checked("className") { () throws(ParseProblem) in
      try ParseQuery(target.className, condition)
    }
    // An object is only included if its pointer column is requested.
    let further = [target.deletedField].compactMap { $0 } + include.map(\.field)
    query.keys = columns.map { columns in columns + further.filter { !columns.contains($0) } }
    query.include = include.map(\.field)
    return query
  }
}
