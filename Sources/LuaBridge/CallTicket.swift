import JSON

/// The right to answer one call: posts what happens to it, and sees to it that it ends exactly once.
///
/// What comes after the end is ignored. A ticket that everybody has let go of fails its call.
final class CallTicket: @unchecked Sendable {
  let id: Int64
  private let mailbox: Mailbox
  private let places: Int
  // Touched only with `lock` held; posting inside keeps the order of two threads' updates.
  private let lock = Lock()
  private var hasStarted = false, hasEnded = false

  private let onEnd: (@Sendable (Int64) -> Void)?

  /// - Parameters:
  ///   - places: What was booked for the call; free again when its end is taken.
  ///   - onEnd: Called once when the call has ended, on the thread that ended it.
  init(id: Int64, mailbox: Mailbox, places: Int, onEnd: (@Sendable (Int64) -> Void)? = nil) {
    self.id = id
    self.mailbox = mailbox
    self.places = places
    self.onEnd = onEnd
  }

  deinit {
    guard !hasEnded else { return }
    end(.error, BridgeError.bridge(.abandoned, "the call was given up without an answer").serialized)
  }

  /// - Parameter payload: JSON text.
  func succeed(_ payload: [UInt8]) { lock.withLock { end(.result, payload) } }

  func fail(_ error: any Error) { lock.withLock { end(.error, BridgeError(describing: error).serialized) } }

  func update(_ update: CallUpdate) {
    switch update {
    case .finished(let payload): succeed(payload)
    case .failed(let error): fail(error)
    case .sync(let sync): lock.withLock { post(sync) }
    case .changes(let take): lock.withLock { post(.update, take) }
    case .event(let take): lock.withLock { post(.news, take) }
    }
  }

  private func post(_ sync: SyncUpdate) {
    if let error = sync.error { return end(.fail, Self.text(of: error, state: sync.state)) }
    if sync.isTerminal { return end(.end, sync.state) }
    guard !hasEnded else { return }
    mailbox.post(.init(call: id, kind: .update, payload: Payload(sync.state), isProgress: hasStarted))
    hasStarted = true
  }

  private func post(_ kind: Mailbox.Kind, _ take: @escaping @Sendable () -> [UInt8]) {
    guard !hasEnded else { return }
    mailbox.post(.init(call: id, kind: kind, payload: Payload(lazily: take)))
  }

  private func end(_ kind: Mailbox.Kind, _ payload: [UInt8]) {
    guard !hasEnded else { return }
    hasEnded = true
    mailbox.post(.init(call: id, kind: kind, payload: Payload(payload), freesPlaces: places))
    onEnd?(id)
  }

  /// The error's text with the state, which is text already, as its last member `sync`.
  private static func text(of error: BridgeError, state: [UInt8]) -> [UInt8] {
    var object = error.object
    object["sync"] = nil
    var text = JSONValue.object(object).serialized()
    text.removeLast()
    text += Array(#","sync":"#.utf8) + state
    text.append(UInt8(ascii: "}"))
    return text
  }
}
