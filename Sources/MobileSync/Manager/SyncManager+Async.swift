import Dispatch
import JSON

/// The same calls for `async` code: each waits for the end of the run and gives the final state, be it DONE, STOPPED or
/// FAILED. An error means that the run could not start.
extension SyncManager {
  public func syncDown(
    target: JSONObject, options: JSONObject? = nil, soupName: String, syncName: String? = nil
  ) async throws -> SyncState {
    try await finalState { manager, listener in
      try manager.syncDown(
        target: target, options: options, soupName: soupName, syncName: syncName, onUpdate: listener)
    }
  }

  public func syncUp(
    target: JSONObject? = nil, options: JSONObject? = nil, soupName: String, syncName: String? = nil
  ) async throws -> SyncState {
    try await finalState { manager, listener in
      try manager.syncUp(target: target, options: options, soupName: soupName, syncName: syncName, onUpdate: listener)
    }
  }

  public func reSync(_ reference: SyncReference) async throws -> SyncState {
    try await finalState { manager, listener in try manager.reSync(reference, onUpdate: listener) }
  }

  /// - Returns: How many ghosts were removed.
  public func cleanResyncGhosts(_ reference: SyncReference) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      SyncManager.startQueue.async {
        do {
          try self.cleanResyncGhosts(reference) { continuation.resume(with: $0) }
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
  }

  func finalState(
    _ start: @escaping @Sendable (SyncManager, @escaping Listener) throws -> Void
  ) async throws -> SyncState {
    try await withCheckedThrowingContinuation { continuation in
      // Starting waits for the store: not on the cooperative pool.
      SyncManager.startQueue.async {
        do {
          try start(self) { state in
            if state.status.isTerminal { continuation.resume(returning: state) }
          }
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
  }

  /// Runs something that blocks, away from the cooperative pool.
  static func onStartQueue<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      startQueue.async { continuation.resume(with: Result { try body() }) }
    }
  }

  private static let startQueue = DispatchQueue(label: "tureen.sync.start", attributes: .concurrent)
}
