import JSON

extension SyncManager {
  /// Creates the syncs of a `usersyncs.json` or `globalsyncs.json` that do not exist yet; none is started.
  ///
  /// Each entry is checked by itself: a bad one does not keep the others out. A sync that exists stays as it is, also when
  /// the file says something else by now; that is logged.
  ///
  /// - Parameter fileName: For the messages.
  /// - Returns: One message for each entry that was refused, and one when the file holds no list of syncs.
  @discardableResult
  public func setupSyncs(from contents: JSONValue, fileName: String) -> [String] {
    guard let entries = contents["syncs"]?.arrayValue else {
      return note(["\(fileName): 'syncs' must be an array"])
    }
    var problems: [String] = []
    for (i, entry) in entries.enumerated() {
      do {
        try setUp(entry, fileName)
      } catch {
        let name = entry["syncName"]?.stringValue ?? "no name"
        problems.append("\(fileName): entry \(i + 1) (\(name)): \(SyncError(wrapping: error).message)")
      }
    }
    return note(problems)
  }

  private func note(_ problems: [String]) -> [String] {
    for problem in problems { configuration.logger.error("\(problem)") }
    return problems
  }

  private func setUp(_ entry: JSONValue, _ fileName: String) throws {
    func text(_ key: String) throws -> String {
      guard let value = entry[key]?.stringValue, !value.isEmpty else {
        throw SyncError(.invalidArguments, "'\(key)' must be a string that is not empty")
      }
      return value
    }
    let name = try text("syncName"), soup = try text("soupName"), word = try text("syncType")
    guard let type = SyncType(rawValue: word) else {
      throw SyncError(.invalidArguments, "'syncType' must be syncDown or syncUp, got '\(word)'")
    }
    let target = try object(entry, "target"), options = try object(entry, "options")
    if type == .syncDown, target == nil { throw SyncError(.invalidArguments, "'target' is missing") }
    let new = try newState(type, target ?? [:], options, soup, name)
    if let existing = try getSyncStatus(.name(name)) {
      if !existing.hasDefinition(of: new) {
        configuration.logger.warning(
          "\(fileName): sync '\(name)' exists with another definition and stays as it is; delete it to use the new one")
      }
      return
    }
    switch type {
    case .syncDown: try createSyncDown(target: target ?? [:], options: options, soupName: soup, syncName: name)
    case .syncUp: try createSyncUp(target: target, options: options, soupName: soup, syncName: name)
    }
  }

  private func object(_ entry: JSONValue, _ key: String) throws -> JSONObject? {
    guard let value = entry[key], !value.isNull else { return nil }
    guard let object = value.objectValue else {
      throw SyncError(.invalidArguments, "'\(key)' must be an object, got \(value.kindName)")
    }
    return object
  }
}

extension SyncState {
  fileprivate func hasDefinition(of other: SyncState) -> Bool {
    type == other.type && target == other.target && options == other.options && soupName == other.soupName
  }
}
