import JSON

/// An edit of one entry. It is applied to the entry as it is stored by then, so it cannot undo what
/// another edit, a sync or another process has written meanwhile.
public struct EntryPatch: Sendable, Equatable {
  /// How the entry is found.
  public enum Place: Sendable, Equatable {
    case entryId(Int64)
    /// A value at the external id path of the call.
    case externalId(JSONValue)
  }

  public var place: Place
  /// First-level members to set.
  public var set: JSONObject = [:]
  /// First-level members to remove.
  public var unset: [String] = []
  /// Operations by path. The parts of a path are separated by dots.
  public var operations: [(path: String, operation: EntryOperation)] = []
  /// `__locally_created__`, `__locally_updated__` and `__locally_deleted__` to set. If given, even if
  /// empty, the entry gets all of them, and `__local__`, which follows from them.
  public var flags: [String: Bool]?
  /// The whole entry as it was read and then changed. Only the differences are applied.
  public var copy: JSONObject?
  /// Members that the server has by now, because they were sent from here.
  public var confirmed: JSONObject?
  /// The version of the entry that `confirmed` was sent from. Members that were edited since keep their
  /// values and stay marked.
  public var sentVersion: Int64?
  /// The entry to add if there is none.
  public var create: JSONObject?
  /// Fails if the entry has another version.
  public var ifVersion: Int64?
  /// Leaves an entry with local changes as it is.
  public var ifClean = false
  /// Does nothing if there is no entry; otherwise that is an error.
  public var ifExists = false

  public init(_ place: Place, set: JSONObject = [:], flags: [String: Bool]? = nil) {
    self.place = place
    self.set = set
    self.flags = flags
  }

  public static func == (a: EntryPatch, b: EntryPatch) -> Bool {
    a.place == b.place && a.set == b.set && a.unset == b.unset && a.flags == b.flags && a.copy == b.copy
      && a.confirmed == b.confirmed && a.sentVersion == b.sentVersion && a.create == b.create
      && a.ifVersion == b.ifVersion && a.ifClean == b.ifClean && a.ifExists == b.ifExists
      && a.operations.count == b.operations.count && zip(a.operations, b.operations).allSatisfy { $0 == $1 }
  }
}

extension EntryPatch {
  /// Parses the form that scripts pass.
  /// - Throws: ``StoreError`` `.invalidEntry`, naming the position and the mistake.
  public init(_ json: JSONObject, position: Int) throws(StoreError) {
    func wrong(_ what: String) -> StoreError { StoreError(.invalidEntry, "patch \(position + 1): \(what)") }
    switch (json.given("entryId"), json.given("externalId")) {
    case (let id?, nil):
      guard let id = id.integerValue else { throw wrong("'entryId' must be an integer") }
      self.init(.entryId(id))
    case (nil, let id?): self.init(.externalId(id))
    default: throw wrong("either 'entryId' or 'externalId' must be given")
    }
    set = json.given("set")?.objectValue ?? [:]
    unset = json.given("unset")?.arrayValue?.compactMap(\.stringValue) ?? []
    copy = json.given("copy")?.objectValue
    confirmed = json.given("confirmed")?.objectValue
    sentVersion = json.given("sentVersion")?.integerValue
    create = json.given("create")?.objectValue
    ifVersion = json.given("ifVersion")?.integerValue
    ifClean = json.given("ifClean")?.boolValue ?? false
    ifExists = json.given("ifExists")?.boolValue ?? false
    for (path, operation) in json.given("operations")?.objectValue ?? [:] {
      operations.append((path, try EntryOperation(operation, at: path)))
    }
    guard let given = json.given("flags")?.objectValue else { return }
    flags = [:]
    for (name, flag) in given {
      guard Self.flagNames.contains(name), let flag = flag.boolValue else {
        throw wrong("'flags' holds \(Self.flagNames.joined(separator: ", ")), each true or false; '\(name)' is not one")
      }
      flags?[name] = flag
    }
  }

  /// The flags that a script decides; `__local__` follows from them.
  static let flagNames = [SoupField.locallyCreated, SoupField.locallyUpdated, SoupField.locallyDeleted]
}

extension JSONObject {
  /// A member that is neither missing nor null.
  fileprivate func given(_ key: String) -> JSONValue? {
    guard let value = self[key], !value.isNull else { return nil }
    return value
  }
}
