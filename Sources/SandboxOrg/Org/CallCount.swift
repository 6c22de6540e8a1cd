/// Counts the calls of the last 24 hours, by hours of the org's clock, and enforces a limit.
struct CallCount {
  let limit: Int
  private var hours: [Int64: Int] = [:]

  private static let window: Int64 = 24

  init(limit: Int) { self.limit = limit }

  /// - Parameter now: Seconds since 1970 UTC.
  func used(at now: Int64) -> Int { hours.reduce(0) { $1.key > now / 3600 - Self.window ? $0 + $1.value : $0 } }

  /// Counts a call.
  ///
  /// - Throws: ``SandboxError`` `REQUEST_LIMIT_EXCEEDED` when the limit is reached; refused calls
  ///   are not counted.
  mutating func add(at now: Int64) throws(SandboxError) {
    guard used(at: now) < limit else {
      throw SandboxError(status: 403, code: "REQUEST_LIMIT_EXCEEDED", message: "TotalRequests Limit exceeded.")
    }
    let hour = now / 3600
    if hours[hour] == nil { hours = hours.filter { $0.key > hour - Self.window } }
    hours[hour, default: 0] += 1
  }
}
