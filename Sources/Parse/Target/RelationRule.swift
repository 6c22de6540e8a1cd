import JSON
import MobileSync

/// A relation column, and how its links are stored locally.
struct RelationRule: Sendable, Equatable {
  enum Storage: Sendable, Equatable {
    /// One row for each link.
    case links(soup: String)
    /// A sorted list of ids in a member of the owner's record.
    case ids(field: String)
  }

  enum Refresh: String, Sendable, CaseIterable {
    /// Owners that are new or changed in this run.
    case changed
    /// All owners received.
    case all
    case never
  }

  /// The pointer column of another class that the links mirror.
  struct Mirror: Sendable, Equatable {
    let className: String
    let field: String
  }

  let field: String
  /// The class of the related objects.
  let className: String
  let storage: Storage
  let refresh: Refresh
  let mirror: Mirror?
  /// The soup of the related objects.
  let soup: String?

  private static let keys = ["field", "className", "soup", "store", "linkSoup", "idsField", "refresh", "mirrorOf"]

  init(_ json: JSONValue, of owner: String) throws(SyncError) {
    let label = "\(ParseTarget.label), relations"
    guard let json = json.objectValue else {
      throw SyncError(.invalidTarget, "\(label): each must be an object, got \(json.kindName)")
    }
    try TargetKeys.check(json, Self.keys, label: label)
    let reader = TargetReader(json: json, label: label)
    let field = try reader.string("field"), className = try reader.string("className")
    self.field = field
    self.className = className
    try ParseTarget.checked("relations") { () throws(ParseProblem) in
      try ParseNames.checkField(field, of: owner)
      try ParseNames.checkClass(className)
    }
    soup = try reader.optionalString("soup")
    storage = try Self.storage(reader, field)
    refresh = try Self.word("refresh", reader) ?? .changed
    if json["mirrorOf"].map({ !$0.isNull }) ?? false {
      let mirror = try reader.object("mirrorOf"), inner = TargetReader(json: mirror, label: "\(label), mirrorOf")
      try TargetKeys.check(mirror, ["className", "field"], label: "\(label), mirrorOf")
      self.mirror = Mirror(className: try inner.string("className"), field: try inner.string("field"))
      guard case .links = storage else {
        throw SyncError(.invalidTarget, "\(label): '\(field)' with 'mirrorOf' needs 'store' = 'links'").at(.key("store"))
      }
    } else {
      mirror = nil
    }
  }

  private static func storage(_ reader: TargetReader, _ field: String) throws(SyncError) -> Storage {
    let word = try reader.optionalString("store") ?? "links"
    switch word {
    case "links":
      if reader.json["idsField"] != nil { throw misplaced(reader, "idsField", "ids") }
      return .links(soup: try reader.string("linkSoup"))
    case "ids":
      if reader.json["linkSoup"] != nil { throw misplaced(reader, "linkSoup", "links") }
      return .ids(field: try reader.string("idsField"))
    default:
      throw SyncError(.invalidTarget, "\(reader.label): 'store' must be 'links' or 'ids', got '\(word)'").at(.key("store"))
    }
  }

  private static func misplaced(_ reader: TargetReader, _ key: String, _ store: String) -> SyncError {
    SyncError(.invalidTarget, "\(reader.label): '\(key)' belongs to 'store' = '\(store)'").at(.key(key))
  }

  private static func word(_ key: String, _ reader: TargetReader) throws(SyncError) -> Refresh? {
    guard let word = try reader.optionalString(key) else { return nil }
    guard let found = Refresh(rawValue: word) else {
      let known = Refresh.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
      throw SyncError(.invalidTarget, "\(reader.label): '\(key)' must be one of \(known), got '\(word)'").at(.key(key))
    }
    return found
  }
}

/// A link stored in a soup: `{linkKey, ownerId, field, relatedId}`.
struct LinkRow: Sendable, Hashable {
  let ownerClass: String
  let ownerId: String
  let field: String
  let relatedId: String

  static let fields = TargetFields(id: "linkKey", modificationDate: "__no_date__")

  static func == (a: LinkRow, b: LinkRow) -> Bool { a.key == b.key }
  func hash(into hasher: inout Hasher) { hasher.combine(ExactText(key)) }

  var key: String { "\(ownerClass)|\(ownerId)|\(field)|\(relatedId)" }

  var json: JSONObject {
    ["linkKey": .string(key), "ownerId": .string(ownerId), "field": .string(field), "relatedId": .string(relatedId)]
  }

  init(_ ownerClass: String, _ ownerId: String, _ field: String, _ relatedId: String) {
    self.ownerClass = ownerClass
    self.ownerId = ownerId
    self.field = field
    self.relatedId = relatedId
  }

  /// Nil for an entry that does not describe a link.
  init?(_ entry: JSONObject, ownerClass: String) {
    guard let owner = entry["ownerId"]?.stringValue, let field = entry["field"]?.stringValue,
      let related = entry["relatedId"]?.stringValue, !owner.isEmpty, !field.isEmpty, !related.isEmpty
    else { return nil }
    self.init(ownerClass, owner, field, related)
  }

  /// Returns the owner encoded in a link's key; nil for a key of another form.
  static func owner(ofKey key: String) -> (className: String, id: String)? {
    let parts = key.split(separator: "|", omittingEmptySubsequences: false)
    return parts.count == 4 ? (String(parts[0]), String(parts[1])) : nil
  }
}
