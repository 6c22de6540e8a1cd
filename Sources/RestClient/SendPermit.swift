/// The permission of the current task to send requests. A run of a sync needs one, so that it sends
/// nothing once another process may have taken it over.
package enum SendPermit {
  package typealias Check = @Sendable () async throws(RestError) -> Void

  @TaskLocal private static var current: Check?

  /// Calls `check` before each attempt of each request of `work`, including those of tasks it
  /// starts. An error of `check` ends the request; its outcome should be `.notSent`.
  package static func required<T>(_ check: @escaping Check, for work: () async -> T) async -> T {
    await $current.withValue(check, operation: work)
  }

  static func check() async throws(RestError) { if let current { try await current() } }
}
