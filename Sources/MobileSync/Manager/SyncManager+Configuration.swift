import JSON

extension SyncManager {
  /// Creates the syncs of a `usersyncs.json` or `globalsyncs.json` and brings those that exist up to date; none is started.
  ///
  /// Each entry is checked by itself: a bad one does not keep the others out. A sync that exists and is defined otherwise takes
  /// the file's definition, unless it is running; that is logged, and listeners of ``updates(named:)`` get the new state. When it
  /// gets its records from somewhere else now, it starts from the beginning.
  ///
  /// - Parameters:
  ///   - contents: An object with the array `syncs`.
  ///   - fileName: For the messages.
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
    var new = try SyncDefinition(entry, targets: targets).state
    if let existing = try getSyncStatus(.name(new.name ?? "")) {
      if !existing.hasDefinition(of: new) { try redefine(existing.id, as: new, fileName) }
      return
    }
    try insert(&new)
  }

  /// Gives a stored sync another definition.
  /// - Throws: ``SyncError`` `.alreadyRunning`, `.runningElsewhere`: the old one stays then.
  private func redefine(_ id: Int64, as new: SyncState, _ fileName: String) throws {
    let now = configuration.now()
    let changed = try store.writeBlocking(.synced) { transaction -> SyncState? in
      guard let stored = try SyncsSoup.find(.id(id), in: transaction) else { return nil }
      try checkNotRunning(stored.id, now: now, transaction)
      var state = new
      state.id = id
      // What it brought so far stays in the soup.
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
      "\(fileName): sync '\(new.name ?? "")' has the file's new definition from now on",
      metadata: ["sync": "\(id)", "startsOver": "\(changed.status == .new)"])
    hub.tell(changed)
  }
}

extension SyncState {
  /// For a definition that changes nothing about where records come from or go to.
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
  }
}
