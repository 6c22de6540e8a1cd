import JSON

/// Answers one call: posts its updates and ensures that it ends exactly once.
///
/// Updates after the end are ignored. If all references to a ticket are released before the end, its call fails.
final class CallTicket: @unchecked Sendable {
  let id: Int64
  private let mailbox: Mailbox
  private let slots: Int
  // Accessed only while the mailbox is locked for a post, which also keeps the updates of two threads in order.
  private var hasStarted = false, hasEnded = false

  private let onEnd: (@Sendable (Int64) -> Void)?

  /// - Parameters:
  ///   - slots: The slots reserved for the call. They are freed when its end is taken.
  ///   - onEnd: Called once when the call has ended, on the thread that ended it.
  init(id: Int64, mailbox: Mailbox, slots: Int, onEnd: (@Sendable (Int64) -> Void)? = nil) {
    self.id = id
    self.mailbox = mailbox
    self.slots = slots
    self.onEnd = onEnd
  }

  deinit {
    guard !hasEnded else { return }
    end(.error, Payload(BridgeError.bridge(.abandoned, "the call was abandoned without an answer").serialized))
  }

  /// - Parameter payload: JSON text.
  /// - Returns: False when the call had ended before.
  @discardableResult
  func succeed(_ payload: [UInt8]) -> Bool { end(.result, Payload(payload)) }

  /// - Returns: False when the call had ended before.
  func succeed(_ payload: Payload) -> Bool { end(.result, payload) }

  /// - Returns: False when the call had ended before.
  @discardableResult
  func fail(_ error: any Error) -> Bool { end(.error, Payload(BridgeError(describing: error).serialized)) }

  /// Posts the progress of a plug-in's call. It replaces an earlier one that was not taken yet.
  /// - Parameter payload: JSON text.
  /// - Returns: False when the call had ended before.
  @discardableResult
  func progress(_ payload: Payload) -> Bool { post(.progress, payload) { true } }

  /// Posts the call to the plug-in with the number `plugin`.
  /// - Parameter arguments: JSON text of an object.
  func postCall(of action: String, _ arguments: [UInt8], to plugin: Int64) {
    let payload = Payload(action: action, arguments)
    mailbox.post(.init(call: id, kind: .call, payload: payload, plugin: plugin, actionLength: action.utf8.count))
  }

  /// Tells the plug-in with the number `plugin` that the caller has cancelled the call.
  func postCancellation(to plugin: Int64) {
    mailbox.post(.init(call: id, kind: .callOver, payload: Payload([]), plugin: plugin))
  }

  func update(_ update: CallUpdate) {
    switch update {
    case .finished(let payload): succeed(payload)
    case .failed(let error): fail(error)
    case .sync(let sync): post(sync)
    case .changes(let take): post(.update, Payload(lazily: take)) { false }
    case .event(let take): post(.event, Payload(lazily: take)) { false }
    }
  }

  private func post(_ sync: SyncUpdate) {
    if let error = sync.error {
      end(.fail, Payload(Self.text(of: error, state: sync.state)))
      return
    }
    if sync.isTerminal {
      end(.end, Payload(sync.state))
      return
    }
    post(.update, Payload(sync.state)) {
      defer { hasStarted = true }
      return hasStarted
    }
  }

  /// - Parameter isProgress: Whether a later update may replace this one; called in the order of the posts.
  /// - Returns: False when the call had ended before.
  @discardableResult
  private func post(_ kind: Mailbox.Kind, _ payload: Payload, _ isProgress: () -> Bool) -> Bool {
    mailbox.post { hasEnded ? nil : .init(call: id, kind: kind, payload: payload, isProgress: isProgress()) }
  }

  /// - Returns: False when the call had ended before.
  @discardableResult
  private func end(_ kind: Mailbox.Kind, _ payload: Payload) -> Bool {
    let isFirst = mailbox.post {
      if hasEnded { return nil }
      hasEnded = true
      return .init(call: id, kind: kind, payload: payload, freedSlots: slots)
    }
    if isFirst { onEnd?(id) }
    return isFirst
  }

  /// Returns the error's text with the state's text as its last member, `sync`.
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
