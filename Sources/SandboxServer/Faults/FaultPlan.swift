/// What happens to one request: the effects of every rule that applies, in the order they act.
struct FaultPlan: Sendable {
  /// What becomes of the service's answer.
  enum Outcome: Sendable {
    case asUsual
    case silence(executed: Bool, ending: FaultDelivery.Ending)
    case instead(ServerReply, executed: Bool)
    case refused(ServerRefusal, headers: [(name: String, value: String)], executed: Bool)
  }

  /// Names of the kinds that take effect, for the log.
  private(set) var names: [String] = []
  private(set) var delays: [(milliseconds: Int, clock: Fault.Timing)] = []
  private(set) var outcome = Outcome.asUsual
  /// For the service, which does what these say.
  private(set) var draws: [FaultDraw] = []
  private var changes: [@Sendable (inout ServerReply) -> Void] = []
  private var deliveries: [@Sendable (inout FaultDelivery, Int) -> Void] = []

  var isEmpty: Bool { names.isEmpty }
  /// The answer is sent as it is.
  var leavesAnswer: Bool { changes.isEmpty && deliveries.isEmpty }
  /// Changes need the text itself.
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
    case .service(let isHeard):
      draws.append(draw)
      if !isHeard, case .asUsual = outcome { outcome = .silence(executed: true, ending: .close) }
    }
    names.append(draw.kind)
  }

  /// The answer as it is sent, and how.
  func delivery(of reply: ServerReply) -> FaultDelivery {
    var changed = reply
    for change in changes { change(&changed) }
    var delivery = FaultDelivery(reply: changed)
    for deliver in deliveries { deliver(&delivery, changed.body.count) }
    return delivery
  }
}

/// An answer and how its bytes are sent.
package struct FaultDelivery: Sendable {
  package enum Ending: Sendable {
    /// The connection goes on, if the client wants it.
    case keep
    case close
    /// With a TCP reset.
    case reset
    /// It stays open, and silent, until the client closes it.
    case open
  }

  var reply: ServerReply
  /// What `Content-Length` says; nil: what is true.
  var announced: Int?
  /// In chunks of so many bytes, without a `Content-Length`.
  var chunkBytes: Int?
  /// Body bytes after which nothing follows, not even a last chunk.
  var cut: Int?
  var ending = Ending.keep
  /// Bytes of a piece, and milliseconds between two.
  var pace: (bytes: Int, milliseconds: Int, clock: Fault.Timing)?
  /// Seconds since 1970 UTC for the `Date` header; nil: the server's time.
  var date: Int64?

  init(reply: ServerReply) { self.reply = reply }

  /// True when the answer is sent like any other.
  var isOrdinary: Bool {
    guard case .keep = ending else { return false }
    return announced == nil && chunkBytes == nil && cut == nil && pace == nil && date == nil
  }

  /// Body bytes that are sent.
  var bytes: Int { min(cut ?? .max, reply.body.count) }
}
