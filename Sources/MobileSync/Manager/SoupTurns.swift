import Synchronization

/// Serializes syncs by soup, first come, first served: syncs that share a soup never overlap,
/// others run concurrently.
final class SoupTurns: Sendable {
  struct Ticket: Sendable {
    fileprivate let soups: [String]
    fileprivate let number: Int
  }

  private struct Waiting {
    let number: Int
    var continuation: CheckedContinuation<Void, any Error>?
  }

  private struct Lines {
    var next = 0
    var bySoup: IdMap<[Waiting]> = [:]
  }

  private let lines = Mutex(Lines())

  /// Enters the queues of some soups, all at once. A run that is ahead in one queue is ahead in
  /// every queue that both are in, so there is no deadlock. Return every ticket with ``leave(_:)``.
  func book(_ soups: [String]) -> Ticket {
    lines.withLock { lines in
      lines.next += 1
      let soups = Array(IdSet(soups))
      for soup in soups { lines.bySoup[soup, default: []].append(Waiting(number: lines.next)) }
      return Ticket(soups: soups, number: lines.next)
    }
  }

  /// Returns whether another run is ahead.
  func isWaiting(_ ticket: Ticket) -> Bool {
    lines.withLock { lines in ticket.soups.contains { lines.bySoup[$0]?.first?.number != ticket.number } }
  }

  /// Waits until the ticket is first in all of its queues.
  /// - Throws: `CancellationError` if the task is cancelled first. The ticket must still be
  ///   returned.
  func wait(_ ticket: Ticket) async throws {
    for soup in ticket.soups { try await wait(ticket.number, for: soup) }
  }

  private func wait(_ number: Int, for soup: String) async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isFirst = lines.withLock { (lines: inout Lines) -> Bool? in
          guard lines.bySoup[soup]?.first?.number != number,
            let i = lines.bySoup[soup]?.firstIndex(where: { $0.number == number })
          else { return true }
          if Task.isCancelled { return false }
          lines.bySoup[soup]?[i].continuation = continuation
          return nil
        }
        if let isFirst { continuation.resume(with: isFirst ? .success(()) : .failure(CancellationError())) }
      }
    } onCancel: {
      take(number, of: soup)?.resume(throwing: CancellationError())
    }
  }

  /// Leaves the queues; the next run may start.
  func leave(_ ticket: Ticket) {
    let next = lines.withLock { lines in
      ticket.soups.compactMap { soup -> CheckedContinuation<Void, any Error>? in
        lines.bySoup[soup]?.removeAll { $0.number == ticket.number }
        guard lines.bySoup[soup]?.isEmpty == false else {
          lines.bySoup[soup] = nil
          return nil
        }
        defer { lines.bySoup[soup]?[0].continuation = nil }
        return lines.bySoup[soup]?[0].continuation
      }
    }
    for continuation in next { continuation.resume() }
  }

  private func take(_ number: Int, of soup: String) -> CheckedContinuation<Void, any Error>? {
    lines.withLock { lines in
      guard let i = lines.bySoup[soup]?.firstIndex(where: { $0.number == number }) else { return nil }
      defer { lines.bySoup[soup]?[i].continuation = nil }
      return lines.bySoup[soup]?[i].continuation
    }
  }
}
