import JSON

extension SyncManager {
  /// Creates the syncs of a `usersyncs.json` or `globalsyncs.json` and updates existing ones;
  /// starts none.
  ///
  /// Each entry is checked by itself, so a bad one does not affect the others. If the definition of
  /// an existing sync differs, the sync takes the file's definition unless it is running. That is
  /// logged, and listeners of ``updates(named:)`` get the new state. If the source of its records
  /// changed, the sync starts from the beginning.
  ///
  /// - Parameters:
  ///   - contents: An object with the array `syncs`.
  ///   - fileName: The name for messages.
  /// - Returns: One message for each rejected entry, and one if the file has no list of syncs.
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

  /// Saves a definition if the sync is missing or differs.
  /// - Returns: The name of the sync.
  /// - Throws: ``SyncError``; the old definition stays then.
  @discardableResult
  func setUp(_ entry: JSONValue, _ fileName: String) throws -> String {
    var new = try SyncDefinition(entry, targets: targets).state
    try remember(whereCodeComesFrom: &new)
    if let existing = try getSyncStatus(.name(new.name ?? "")) {
      if !existing.hasDefinition(of: new) { try redefine(existing.id, as: new, fileName) }
    } else {
      try insert(&new)
    }
    return new.name ?? ""
  }

  /// Replaces the definition of a stored sync.
  /// - Throws: ``SyncError`` `.alreadyRunning`, `.runningElsewhere`: the old definition stays then.
  private func redefine(_ id: Int64, as new: SyncState, _ fileName: String) throws {
    let now = configuration.now()
    let changed = try store.writeBlocking(.synced) { transaction -> SyncState? in
      guard let stored = try SyncsSoup.find(.id(id), in: transaction) else { return nil }
      try checkNotRunning(stored.id, now: now, transaction)
      var state = new
      state.id = id
      // The records that it brought stay in the soup.
      state.orgId = stored.orgId
      if stored.type == new.type, stored.target == new.target, stored.soupName == new.soupName {
        state.keepProgress(of: stored)
      } else {
        try transaction.forgetSyncPages(of: id)
      }
      try SyncsSoup.save(state, in: transaction)
      return state
    }
    guard let changed else { return }
    configuration.logger.notice(
      "\(fileName): sync '\(new.name ?? "")' was updated to the definition in the file",
      metadata: ["sync": "\(id)", "startsOver": "\(changed.status == .new)"])
    hub.send(changed)
  }
}

extension SyncState {
  /// Keeps the progress, for a definition with the same source or destination of records.
  fileprivate mutating func keepProgress(of other: SyncState) {
    status = other.status
    progress = other.progress
    totalSize = other.totalSize
    maxTimeStamp = other.maxTimeStamp
    coveredTimeStamp = other.coveredTimeStamp
    ghostsCheckedUntil = other.ghostsCheckedUntil
    startTime = other.startTime
    endTime = other.endTime
    error = other.error
    counts = other.counts
    limitInfo = other.limitInfo
    warnings = other.warnings
    hasMore = other.hasMore
    isIncomplete = other.isIncomplete
    resumeAt = other.resumeAt
    memory = other.memory
  }

  fileprivate func hasDefinition(of other: SyncState) -> Bool {
    type == other.type && target == other.target && options == other.options && soupName == other.soupName
      && usesRegisteredCode == other.usesRegisteredCode
  }
}
