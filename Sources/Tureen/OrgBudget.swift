import Dispatch
import Logging
import PostgresStore
import RestClient
import Salesforce
import SmartStore
import Synchronization

/// An org's budget of API calls a day, which all hosts share that keep their stores in one database.
///
/// Usable from any thread. A call is reserved before each attempt of a request, most of them from a block that this host has
/// reserved at once.
final class OrgBudget: Sendable {
  private let calls: BudgetedCalls
  private let org: String
  private let session: PostgresSession
  private let schema: PostgresSchema
  /// Milliseconds since 1970.
  private let now: @Sendable () -> Int64
  /// Reservations block for a round trip, so they run here and not on the cooperative pool.
  private let queue = DispatchQueue(label: "tureen.host.budget")
  /// Whether the schema with the budgets exists.
  private let isPrepared = Mutex(false)

  /// - Parameters:
  ///   - dailyCalls: The calls that all hosts together may make in a day of the server's clock, in UTC.
  ///   - org: The name of the org's folder.
  init(_ dailyCalls: Int64, org: String, database: PostgresConnector, now: @escaping @Sendable () -> Int64) {
    self.org = org
    self.now = now
    session = PostgresSession(database, label: "tureen.host.budget.postgres")
    schema = PostgresSchema(database.address.schema)
    calls = BudgetedCalls(.init(org: org, spanMs: 86_400_000, cap: dailyCalls), session, schema)
  }

  /// Reserves one call.
  /// - Throws: ``RestError`` `.requestLimitExceeded` with ``RestError/resumeAt`` if the budget is used up; also if the database
  ///   cannot be asked.
  func take() async throws(RestError) {
    let answer: Result<BudgetedCalls.Answer, any Error> = await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: Result { try self.reserve() }) }
    }
    switch answer {
    case .success(.granted): return
    case .success(.exhausted(let untilMs)): throw exhausted(untilMs)
    case .failure(let error): throw refusal("a call could not be reserved: \(error)")
    }
  }

  private func reserve() throws -> BudgetedCalls.Answer {
    if !isPrepared.withLock({ $0 }) {
      try session.run { link in try schema.open(try link.connection()) }
      isPrepared.withLock { $0 = true }
    }
    return try calls.take()
  }

  private func exhausted(_ untilMs: Int64) -> RestError {
    var error = refusal(
      "all hosts together have used the \(calls.budget.cap) calls a day that apiBudget allows; the next day begins in "
        + "\((untilMs + 59_999) / 60_000) minutes. Raise apiBudget to continue now")
    error.resumeAt = now() + untilMs
    return error
  }

  private func refusal(_ what: String) -> RestError {
    var error = RestError(
      code: .requestLimitExceeded, message: "the budget of API calls for '\(org)': \(what)", outcome: .notSent)
    error.isLocal = true
    return error
  }

  /// Counts the calls of other clients, which the org has reported.
  func note(_ usage: ApiUsage) {
    queue.async { [calls] in try? calls.correct(seen: usage.used) }
  }

  /// Gives back what is reserved and not used. Blocks.
  func close() {
    queue.sync {
      do {
        try calls.giveBack()
      } catch {
        Logger.tureen("host").debug("calls of the budget could not be given back: \(error)")
      }
      session.close()
    }
  }
}
