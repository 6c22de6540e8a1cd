import Support

/// A host's share of an org's budget of API calls, which all hosts of the database keep together.
///
/// Calls are reserved in blocks, so that most calls need no round trip. Calls that a killed host had
/// reserved are lost until the span ends; the cap is never exceeded.
package final class BudgetedCalls: @unchecked Sendable {
  /// A limit of calls in a span of time.
  package struct Budget: Sendable, Equatable {
    package let org: String
    /// Spans begin at multiples of their length since 1970 UTC, by the server's clock.
    package let spanMs: Int64
    /// Hosts should agree on it. With different ones, each stops at its own.
    package let cap: Int64

    package init(org: String, spanMs: Int64, cap: Int64) {
      self.org = org
      self.spanMs = spanMs
      self.cap = cap
    }
  }

  /// The answer to a request for a call.
  package enum Answer: Sendable, Equatable {
    case granted
    /// The budget is used up; the next span begins in that many ms.
    case exhausted(untilMs: Int64)
  }

  package let budget: Budget
  private let session: PostgresSession
  private let schema: PostgresSchema
  private let block: Int64
  private let now: @Sendable () -> Int64
  private let lock = Lock()
  // Under the lock:
  private var left: Int64 = 0
  /// The span that `left` belongs to, and when it ends on this machine's monotonic clock.
  private var starts: Int64 = 0, endsAt: Int64 = 0

  /// - Parameters:
  ///   - block: Calls to reserve at a time.
  ///   - now: Ms of a monotonic clock.
  package init(
    _ budget: Budget, _ session: PostgresSession, _ schema: PostgresSchema, block: Int64 = Tuning.reservedCalls,
    now: @escaping @Sendable () -> Int64 = SystemClock.monotonicMilliseconds
  ) {
    self.budget = budget
    self.session = session
    self.schema = schema
    self.block = block
    self.now = now
  }

  /// Asks for one call. Blocks for a round trip when a new block is needed.
  /// - Throws: ``PostgresError``. The call must not be made then.
  package func take() throws -> Answer {
    if takeReserved() { return .granted }
    return try session.run { link in
      // Another thread may have reserved meanwhile.
      if takeReserved() { return .granted }
      let begin = now()
      let row = try link.connection().query(
        "SELECT granted, starts_ms, ends_in_ms FROM \(schema.sql).reserve($1, $2, $3, $4)",
        [.text(budget.org), .int64(budget.spanMs), .int64(budget.cap), .int64(block)]
      ).only()
      let granted = try row.int64(0), first = try row.int64(1), rest = try row.int64(2)
      guard granted > 0 else { return .exhausted(untilMs: rest) }
      lock.withLock {
        (left, starts, endsAt) = (granted - 1, first, begin + rest)
      }
      return .granted
    }
  }

  private func takeReserved() -> Bool {
    lock.withLock {
      guard left > 0, now() < endsAt else { return false }
      left -= 1
      return true
    }
  }

  /// Reports how many calls the org has counted, all its clients together. Calls of other clients then
  /// reduce what is left; those that hosts have reserved and not made yet are not counted twice.
  package func correct(seen: Int64) throws {
    let first = lock.withLock { starts }
    guard first > 0 else { return }
    _ = try session.query(
      "SELECT \(schema.sql).correct($1, $2, $3, $4)",
      [.text(budget.org), .int64(budget.spanMs), .int64(first), .int64(seen)])
  }

  /// Gives back what is reserved and not used, when the host ends.
  package func giveBack() throws {
    let (unused, first) = lock.withLock {
      defer { left = 0 }
      return (left, starts)
    }
    guard unused > 0 else { return }
    _ = try session.query(
      "SELECT \(schema.sql).give_back($1, $2, $3, $4)",
      [.text(budget.org), .int64(budget.spanMs), .int64(first), .int64(unused)])
  }
}
