import Synchronization

/// First come, first served, for each soup: syncs that touch one soup never overlap, others run at once.
final class SoupTurns: Sendable {
  struct Ticket: Sendable {
    fileprivate let soup: String
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

  /// Takes a place in the line. Every ticket must be given back with ``leave(_:)``.
  func book(_ soup: String) -> Ticket {
    lines.withLock { lines in
      lines.next += 1
      lines.bySoup[soup, default: []].append(Waiting(number: lines.next))
      return Ticket(soup: soup, number: lines.next)
    }
  }

  /// Waits until the ticket is the first in its line.
  /// - Throws: `CancellationError` when the task is cancelled first. The ticket is still to be given back.
  func wait(_ ticket: Ticket) async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isFirst = lines.withLock { (lines: inout Lines) -> Bool? in
          guard lines.bySoup[ticket.soup]?.first?.number != ticket.number,
            let i = lines.bySoup[ticket.soup]?.firstIndex(where: { $0.number == ticket.number })
          else { return true }
          if Task.isCancelled { return false }
          lines.bySoup[ticket.soup]?[i].continuation = continuation
          return nil
        }
        if let isFirst { continuation.resume(with: isFirst ? .success(()) : .failure(CancellationError())) }
      }
    } onCancel: {
      take(ticket)?.resume(throwing: CancellationError())
    }
  }

  /// Gives the place up; whoever comes next may go on.
  func leave(_ ticket: Ticket) {
    let next = lines.withLock { lines in
      lines.bySoup[ticket.soup]?.removeAll { $0.number == ticket.number }
      if lines.bySoup[ticket.soup]?.isEmpty ?? false { lines.bySoup[ticket.soup] = nil }
      defer {
        if lines.bySoup[ticket.soup] != nil { lines.bySoup[ticket.soup]?[0].continuation = nil }
      }
      return lines.bySoup[ticket.soup]?.first?.continuation
    }
    next?.resume()
  }

  private func take(_ ticket: Ticket) -> CheckedContinuation<Void, any Error>? {
    lines.withLock { lines in
      guard let i = lines.bySoup[ticket.soup]?.firstIndex(where: { $0.number == ticket.number }) else { return nil }
      defer { lines.bySoup[ticket.soup]?[i].continuation = nil }
      return lines.bySoup[ticket.soup]?[i].continuation
    }
  }
}
