import JSON

/// A named sync as defined in a configuration file, checked:
/// `{syncName, syncType, soupName, target, options}`.
public struct SyncDefinition: Sendable, Equatable {
  public var name: String { state.name ?? "" }
  /// The state to store: normalized, with the status NEW.
  let state: SyncState
  /// What the command runs after the sync.
  public let after: AfterSync?

  static let keys = KnownKeys(["syncName", "syncType", "soupName", "target", "options", "after"])

  /// Checks one entry of a file.
  /// - Parameters:
  ///   - entry: An element of the file's `syncs`.
  ///   - targets: The kinds of targets that the entry may use.
  /// - Throws: ``SyncError``, whose `place` leads from the entry to the mistake.
  public init(_ entry: JSONValue, targets: TargetRegistry) throws(SyncError) {
    guard let members = entry.objectValue else {
      throw SyncError(.invalidArguments, "must be an object, got \(entry.kindName)")
    }
    if let unknown = Self.keys.unknown(in: members) {
      throw SyncError(.invalidArguments, "'\(unknown.key)' \(unknown.complaint)").at(.key(unknown.key))
    }
    let name = try Self.text(members, "syncName"), soup = try Self.text(members, "soupName")
    let type = try Self.type(members)
    let target = try Self.object(members, "target"), options = try Self.object(members, "options")
    if type == .syncDown, target == nil { throw SyncError(.invalidArguments, "'target' is missing") }
    after = try AfterSync(members["after"])
    state = try SyncState(
      defining: type, target: target ?? [:], options: options, soupName: soup, name: name, targets: targets)
  }

  private static func text(_ entry: JSONObject, _ key: String) throws(SyncError) -> String {
    guard let value = entry[key]?.stringValue, !value.isEmpty else {
      throw SyncError(.invalidArguments, "'\(key)' must be a string that is not empty").at(.key(key))
    }
    return value
  }

  private static func type(_ entry: JSONObject) throws(SyncError) -> SyncType {
    let word = try text(entry, "syncType")
    guard let type = SyncType(rawValue: word) else {
      throw SyncError(.invalidArguments, "'syncType' must be syncDown or syncUp, got '\(word)'").at(.key("syncType"))
    }
    return type
  }

  private static func object(_ entry: JSONObject, _ key: String) throws(SyncError) -> JSONObject? {
    guard let value = entry[key], !value.isNull else { return nil }
    guard let object = value.objectValue else {
      throw SyncError(.invalidArguments, "'\(key)' must be an object, got \(value.kindName)").at(.key(key))
    }
    return object
  }
}

extension SyncState {
  /// Creates the state of a new sync with checked and normalized target and options.
  /// - Throws: ``SyncError`` `.invalidTarget`, `.invalidOptions`, `.invalidArguments`,
  ///   `.noFieldlist`; its `place` begins with `target` or `options`.
  init(
    defining type: SyncType, target: JSONObject, options: JSONObject?, soupName: String, name: String?,
    targets: TargetRegistry
  ) throws(SyncError) {
    guard !soupName.isEmpty else { throw SyncError(.invalidArguments, "soupName must not be empty") }
    let checked = try SyncError.at(.key("options")) { () throws(SyncError) in try SyncOptions(checking: options) }
    let stored = try SyncError.at(.key("target")) { () throws(SyncError) in
      try targets.checkKeys(type, target)
      return try type == .syncDown ? Self.storedDown(target, checked, targets) : Self.storedUp(target, checked, targets)
    }
    self.init(type: type, name: name, target: stored, options: checked, soupName: soupName)
  }

  private static func storedDown(
    _ target: JSONObject, _ options: SyncOptions, _ targets: TargetRegistry
  ) throws(SyncError) -> JSONObject {
    let target = try targets.down(target)
    guard options.maxPages == nil || target.canPause else {
      throw SyncError(
        .invalidOptions,
        "options: 'maxPages' is not supported by a target of type '\(target.json["type"]?.stringValue ?? "")': "
          + "its runs cannot be paused")
    }
    return target.json
  }

  private static func storedUp(
    _ target: JSONObject, _ options: SyncOptions, _ targets: TargetRegistry
  ) throws(SyncError) -> JSONObject {
    let families = try targets.families(target)
    let lists: UploadSettings
    if let families { lists = families.parents } else { lists = try targets.up(target).settings }
    guard options.fieldlist != nil || lists.createFieldlist != nil || lists.updateFieldlist != nil else {
      throw SyncError(
        .noFieldlist,
        "No fields specified: give the options a fieldlist, or the target a createFieldlist and an updateFieldlist")
    }
    return families?.json ?? lists.json
  }
}
