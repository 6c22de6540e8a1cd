import Dispatch
import JSON
import Logging
import RestClient
import Salesforce
import Support
import Synchronization

/// Tracks an org's API usage from response headers, and shares the latest value among processes through `usage.json` in the
/// org's folder.
///
/// Usable from any thread. Values are recorded in memory; the file is written on a separate queue.
final class OrgUsage: Sendable {
  private struct State {
    var latest: ApiUsage?
    /// Milliseconds since 1970; nil before the first write.
    var writtenAt: Int64?
  }

  private let path: String
  private let reserve: ApiReserve
  /// Milliseconds since 1970.
  private let now: @Sendable () -> Int64
  /// Called with a value every ten seconds, on another thread.
  private let onUse: @Sendable (ApiUsage) -> Void
  private let state = Mutex(State())
  private let writing = DispatchQueue(label: "tureen.host.usage")

  /// - Parameter folder: The org's folder. Created with the first write.
  init(
    folder: String, reserve: ApiReserve, now: @escaping @Sendable () -> Int64,
    onUse: @escaping @Sendable (ApiUsage) -> Void = { _ in }
  ) {
    self.onUse = onUse
    path = folder + "/usage.json"
    self.reserve = reserve
    self.now = now
  }

  /// Returns the latest usage that any process with this home has seen; nil if there is none.
  func latest() -> ApiUsage? {
    let own = state.withLock { $0.latest }, shared = inFile()
    guard let own else { return shared }
    return shared.map { $0.seenAt > own.seenAt ? $0 : own } ?? own
  }

  // MARK: Responses

  func note(headers: [(name: String, value: String)]) {
    guard let text = headers.first(where: { $0.name.equalsIgnoringCase(ApiUsage.header) })?.value,
      let usage = ApiUsage(header: text, seenAt: now())
    else { return }
    let isDue = state.withLock { state in
      state.latest = usage
      if let last = state.writtenAt, (0..<Tuning.usageWriteMs).contains(usage.seenAt - last) { return false }
      state.writtenAt = usage.seenAt
      return true
    }
    guard isDue else { return }
    writing.async {
      self.write(usage)
      self.onUse(usage)
    }
  }

  /// Waits until the file is written.
  func close() { writing.sync {} }

  /// Writes the file. If two processes write at the same moment, the older value may win until the next write ten seconds later.
  private func write(_ usage: ApiUsage) {
    do {
      try FileSystem.makeDirectory(FileSystem.folder(of: path))
      if let other = inFile(), other.seenAt >= usage.seenAt { return }
      try FileSystem.write(JSONValue.object(usage.json).serialized(), to: path)
    } catch {
      Logger.tureen("host").warning("the org's API usage could not be stored: \(error)")
    }
  }

  /// Reads the file. Ignores a value from the future, which a wrong clock has written.
  private func inFile() -> ApiUsage? {
    guard let text = FileSystem.read(path), let found = (try? JSONValue(parsing: text)).flatMap({ ApiUsage(json: $0) }),
      found.seenAt <= now() + Tuning.usageClockSkewMs
    else { return nil }
    return found
  }

  // MARK: The reserve

  /// Returns the error for syncs of the org once the reserve is reached; nil before.
  /// - Parameter isNew: True for a new sync, which also considers the values of other processes. A running sync uses its own last
  ///   response.
  func refusal(isNew: Bool) -> RestError? {
    guard reserve != .calls(0), let usage = isNew ? latest() : state.withLock({ $0.latest }), reserve.isReached(by: usage),
      now() - usage.seenAt < Tuning.usageLifeMs
    else { return nil }
    let kept = reserve.calls(of: usage.max)
    var error = RestError(
      code: .requestLimitExceeded,
      message: "the org has used \(usage.used) of its \(usage.max) API calls, and apiReserve keeps \(kept) for others: syncs "
        + "wait until calls of the last 24 hours are no longer counted; lower apiReserve to run them now",
      outcome: .notSent)
    error.isLocal = true
    return error
  }
}
