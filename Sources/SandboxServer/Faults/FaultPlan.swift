/// The faults of one request: the effects of all matching rules, in the order they are applied.
struct FaultPlan: Sendable {
  /// What happens to the service's response.
  enum Outcome: Sendable {
    case asUsual
    case silence(executed: Bool, ending: FaultDelivery.Ending)
    case instead(ServerReply, executed: Bool)
    case refused(ServerRefusal, headers: [(name: String, value: String)], executed: Bool)
  }

  /// Names of the kinds that take effect, for the request log.
  private(set) var names: [String] = []
  private(set) var delays: [(milliseconds: Int, clock: Fault.Timing)] = []
  private(set) var outcome = Outcome.asUsual
  /// Draws that the service handles itself.
  private(set) var draws: [FaultDraw] = []
  private var changes: [@Sendable (inout ServerReply) -> Void] = []
  private var deliveries: [@Sendable (inout FaultDelivery, Int) -> Void] = []

  var isEmpty: Bool { names.isEmpty }
  /// True if the response is sent unchanged.
  var leavesResponseUnchanged: Bool { changes.isEmpty && deliveries.isEmpty }
  /// True if a fault edits the body, which needs to be uncompressed then.
  var refusesCompression: Bool { !changes.isEmpty }

  mutating func add(_ draw: FaultDraw, _ kind: FaultKind) {
    switch kind.effect(draw) {
    case .delay(let milliseconds, let clock): delays.append((milliseconds, clock))
    case .silence(let executed, let ending):
      guard case .asUsual = outcome else { return }
      outcome = .silence(executed: executed, ending: ending)
    case .answer(let reply, let executed):
      guard case .asUsual = outcome else { return }
      outcome = .instead(reply, executed: executed)
    case .refuse(let refusal, let headers, let executed):
      guard case .asUsual = outcome else { return }
      outcome = .refused(refusal, headers: headers, executed: executed)
    case .change(let change): changes.append(change)
    case .deliver(let deliver): deliveries.append(deliver)
    case .service(let isAnswered):
      draws.append(draw)
      if !isAnswered, case .asUsual = outcome { outcome = .silence(executed: true, ending: .close) }
    }
    names.append(draw.kind)
  }

  /// Applies the changes to a response and returns how to send it.
  func delivery(of reply: ServerReply) -> FaultDelivery {
    var changed = reply
    for change in changes { change(&changed) }
    var delivery = FaultDelivery(reply: changed)
    for deliver in deliveries { deliver(&delivery, changed.body.count) }
    return delivery
  }
}

/// A response and how its bytes are sent.
package struct FaultDelivery: Sendable {
  package enum Ending: Sendable {
    /// Keeps the connection alive if the client wants that.
    case keep
    case close
    /// Closes with a TCP reset.
    case reset
    /// Stays open without sending anything until the client closes it.
    case open
  }

  var reply: ServerReply
  /// The value of `Content-Length`; nil for the true length.
  var announced: Int?
  /// The size of each chunk; the response has no `Content-Length` then.
  var chunkBytes: Int?
  /// Body bytes to send; nothing follows, not even a last chunk.
  var cut: Int?
  var ending = Ending.keep
  /// Bytes of each piece, and the milliseconds between two pieces.
  var pace: (bytes: Int, milliseconds: Int, clock: Fault.Timing)?
  /// Seconds since 1970 UTC for the `Date` header; nil: the server's time.
  var date: Int64?

  init(reply: ServerReply) { self.reply = reply }

  /// True if the response is sent in the usual way.
  var isOrdinary: Bool {
    guard case .keep = ending else { return false }
    return announced == nil && chunkBytes == nil && cut == nil && pace == nil && date == nil
  }

  /// The number of body bytes to send.
  var bytes: Int { min(cut ?? .max, reply.body.count) }
}
