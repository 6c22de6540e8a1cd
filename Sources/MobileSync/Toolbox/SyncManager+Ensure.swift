import JSON
import SmartStore

extension SyncManager {
  /// Creates a named sync, or gives it another definition, and runs it.
  ///
  /// A sync whose source or destination of records changed starts over, as one of a configuration file does.
  /// - Parameters:
  ///   - definition: `{syncName, syncType, soupName, target, options}`, as in `usersyncs.json`.
  ///   - onConflict: Called with the new conflicts of the run.
  ///   - onUpdate: Called with each state of the run; the last one is DONE, FAILED or STOPPED.
  /// - Returns: The state at the start: RUNNING.
  /// - Throws: ``SyncError`` `.invalidArguments`, `.invalidTarget`, `.invalidOptions`, `.noFieldlist`, and what
  ///   ``reSync(_:maxRequests:onConflict:onUpdate:)`` throws. The sync keeps its definition while it is running.
  @discardableResult
  public func ensureSync(
    _ definition: JSONObject, onConflict: @escaping ConflictListener = { _ in }, onUpdate: @escaping Listener
  ) throws -> SyncState {
    if definition["after"] != nil {
      throw SyncError(.invalidArguments, "'after' is for the files of syncs alone: only who reads the file runs it").at(
        .key("after"))
    }
    let name = try ensure(.object(definition))
    return try reSync(.name(name), onConflict: onConflict, onUpdate: onUpdate)
  }

  /// Saves the definition if the sync is missing or differs.
  /// - Returns: The name of the sync.
  private func ensure(_ entry: JSONValue) throws -> String {
    do {
      return try setUp(entry, "ensureSync")
    } catch let error as SyncError where error.is(.duplicateName) {
      // Another caller was faster.
      return try setUp(entry, "ensureSync")
    }
  }
}
