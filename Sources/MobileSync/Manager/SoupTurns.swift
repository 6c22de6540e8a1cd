import Synchronization

/// First come, first served, for each soup: syncs that touch one soup never overlap, others run at once.
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
    var bySoup: [String: [Waiting]] = [:]
  }

  private let lines = Mutex(Lines())

  /// Takes a place in the lines of some soups, in all at once: a run ahead in one line is ahead in every line both stand
  /// in, so there is no deadlock. Every ticket must be given back with ``leave(_:)``.
  func book(_ soups: [String]) -> Ticket {
    lines.withLock { lines in
      lines.next += 1
      let soups = Array(Set(soups))
      for soup in soups { lines.bySoup[soup, default: []].append(Waiting(number: lines.next)) }
      return Ticket(soups: soups, number: lines.next)
    }
  }

  /// True while another run is ahead.
  func isWaiting(_ ticket: Ticket) -> Bool {
    lines.withLock { lines in ticket.soups.contains { lines.bySoup[$0]?.first?.number != ticket.number } }
  }

  /// Waits until the ticket is the first in its lines.
  /// - Throws: `CancellationError` when the task is cancelled first. The ticket is still to be given back.
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

  /// Gives the places up; the next run in line may continue.
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
