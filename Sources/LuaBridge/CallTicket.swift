import JSON

/// The right to answer one call: posts what happens to it, and sees to it that it ends exactly once.
///
/// What comes after the end is ignored. A ticket that everybody has let go of fails its call.
final class CallTicket: @unchecked Sendable {
  let id: Int64
  private let mailbox: Mailbox
  private let places: Int
  // Touched only while the mailbox is held for a post, which keeps the order of two threads' updates: no lock of each call's own.
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
  /// - Returns: False when the call had ended before.
  @discardableResult
  func succeed(_ payload: [UInt8]) -> Bool { end(.result, payload) }

  /// - Returns: False when the call had ended before.
  @discardableResult
  func fail(_ error: any Error) -> Bool { end(.error, BridgeError(describing: error).serialized) }

  /// Posts how far a plug-in's call is, in the place of an earlier progress that was not taken yet.
  /// - Parameter payload: JSON text.
  /// - Returns: False when the call had ended before.
  @discardableResult
  func progress(_ payload: [UInt8]) -> Bool { post(.progress, Payload(payload)) { true } }

  func update(_ update: CallUpdate) {
    switch update {
    case .finished(let payload): succeed(payload)
    case .failed(let error): fail(error)
    case .sync(let sync): post(sync)
    case .changes(let take): post(.update, Payload(lazily: take)) { false }
    case .event(let take): post(.news, Payload(lazily: take)) { false }
    }
  }

  private func post(_ sync: SyncUpdate) {
    if let error = sync.error {
      end(.fail, Self.text(of: error, state: sync.state))
      return
    }
    if sync.isTerminal {
      end(.end, sync.state)
      return
    }
    post(.update, Payload(sync.state)) {
      defer { hasStarted = true }
      return hasStarted
    }
  }

  /// - Parameter isProgress: Whether a later update may take its place; asked in the order of the posts.
  /// - Returns: False when the call had ended before.
  @discardableResult
  private func post(_ kind: Mailbox.Kind, _ payload: Payload, _ isProgress: () -> Bool) -> Bool {
    mailbox.post { hasEnded ? nil : .init(call: id, kind: kind, payload: payload, isProgress: isProgress()) }
  }

  /// - Returns: False when it had ended before.
  @discardableResult
  private func end(_ kind: Mailbox.Kind, _ text: [UInt8]) -> Bool {
    let payload = Payload(text)
    let isFirst = mailbox.post {
      if hasEnded { return nil }
      hasEnded = true
      return .init(call: id, kind: kind, payload: payload, freesPlaces: places)
    }
    if isFirst { onEnd?(id) }
    return isFirst
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
