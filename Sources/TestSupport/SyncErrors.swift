import MobileSync

/// Returns the error of a call as a sync error.
public func syncError(_ body: () async throws -> some Sendable) async throws -> SyncError {
  do {
    _ = try await body()
  } catch let error as SyncError {
    return error
  }
  throw NothingThrown()
}

private struct NothingThrown: Error, CustomStringConvertible {
  var description: String { "nothing was thrown" }
}
