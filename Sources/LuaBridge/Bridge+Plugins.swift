import CLuaBridge
import JSON

/// Calls of plug-ins.
extension Bridge {
  /// The result of a plug-in's answer. The raw values are those of `tureen.h`.
  enum AnswerStatus: Int32 {
    case taken = 0
    /// The kind is unknown, the text is not JSON, or an error is not an object.
    case misuse = -1
    case closed = -2
    /// The call has been answered or cancelled, or it is not a call of a plug-in that answers this way.
    case notOpen = -6
  }

  /// The result of emitting a plug-in's event. The raw values are those of `tureen.h`.
  enum EventStatus: Int32 {
    case taken = 0
    /// The name is not allowed for plug-ins, or the detail is not JSON.
    case misuse = -1
    case closed = -2
    /// The mailbox is full.
    case full = -4
  }

  /// Accepts a call of a plug-in and returns its id. Call it on the Lua thread. Errors of the call are answered through the
  /// mailbox.
  /// - Parameter isEncoded: Whether our own encoder made the arguments' text, so that it needs no check.
  /// - Throws: `mailboxFull`.
  func callPlugin(
    _ service: String, _ action: String, store: StoreReference, arguments: [UInt8], isEncoded: Bool
  ) throws(BridgeError) -> Int64 {
    let found: Result<Plugins.Entry, BridgeError>
    do throws(BridgeError) { found = .success(try host.plugins.find(service, action)) } catch { found = .failure(error) }
    let slots = (try? found.get())?.slots ?? Tuning.slotsPerCall
    let ticket = try newTicket(slots: slots, onEnd: forgetPluginCall)
    do throws(BridgeError) {
      try begin(found.get(), action, store, arguments, isEncoded, ticket)
    } catch {
      ticket.fail(error)
    }
    return ticket.id
  }

  private func begin(
    _ plugin: Plugins.Entry, _ action: String, _ store: StoreReference, _ arguments: [UInt8], _ isEncoded: Bool,
    _ ticket: CallTicket
  ) throws(BridgeError) {
    switch plugin.receiver {
    case .blocking(let handler):
      queues.submit(store) { Self.run(handler, plugin.service, action, arguments, ticket) }
    case .tasks(let actions):
      guard let perform = actions[action] else { return }  // `find` has checked the action
      let cancellation = Cancellation()
      try pluginCalls.add(.init(service: plugin.service, action: action, ticket: ticket, receiver: .task(cancellation)))
      let task = Task.detached { await Self.run(perform, plugin, action, arguments, ticket) }
      cancellation.onCancel { task.cancel() }
    case .poller(let hearsCancel):
      let isObject = isEncoded && arguments.first == UInt8(ascii: "{")
      let checked =
        isObject && plugin.spec == nil
        ? arguments : JSONValue.object(try plugin.checked(action, arguments)).serialized()
      try pluginCalls.add(
        .init(
          service: plugin.service, action: action, ticket: ticket,
          receiver: .poller(plugin.number, hearsCancel: hearsCancel)))
      ticket.postCall(of: action, checked, to: plugin.number)
    }
  }

  /// Runs on the queue of the call's store.
  private static func run(
    _ handler: Plugins.BlockingHandler, _ service: String, _ action: String, _ arguments: [UInt8], _ ticket: CallTicket
  ) {
    do {
      let call = try ActionCall(.plugin(service: service, action: action), text: arguments)
      guard let payload = try handler(action, call.arguments) else {
        throw BridgeError.bridge(.unknownService, "unknown service '\(service)', or it has no action '\(action)'")
      }
      ticket.succeed(payload.serialized())
    } catch {
      ticket.fail(error)
    }
  }

  private static func run(
    _ perform: PluginAction, _ plugin: Plugins.Entry, _ action: String, _ arguments: [UInt8], _ ticket: CallTicket
  ) async {
    do {
      let call = PluginCall(service: plugin.service, action: action, arguments: try plugin.checked(action, arguments)) {
        ticket.progress(Payload($0.serialized()))
      }
      ticket.succeed(try await perform(call).serialized())
    } catch is CancellationError {
      ticket.fail(BridgeError.bridge(.cancelled, "the call was cancelled"))
    } catch let error as BridgeError {
      ticket.fail(error)
    } catch let error as any BridgeErrorConvertible {
      ticket.fail(error)
    } catch {
      ticket.fail(BridgeError(domain: plugin.service, code: "failed", message: String(describing: error)))
    }
  }

  /// Registers a plug-in that gets its calls when the mailbox is polled. Callable from any thread. The plug-in belongs to the
  /// program or the script itself, so restricted scripts may call it.
  /// - Parameter spec: JSON text in the form of ``PluginSpec``.
  /// - Returns: The plug-in's number, which its calls carry.
  /// - Throws: `invalidArguments`.
  func register(_ service: String, _ spec: String?, hearsCancel: Bool) throws(BridgeError) -> Int64 {
    let spec = try spec.map { text throws(BridgeError) in try PluginSpec(parsing: text, service: service) }
    return try host.plugins.register(service, .poller(hearsCancel: hearsCancel), spec: spec, isSafe: true)
  }

  /// Emits an event whose detail is JSON text. Callable from any thread.
  func emit(_ event: String, _ detail: [UInt8]) -> EventStatus {
    guard let value = try? JSONValue(parsing: detail) else { return .misuse }
    do throws(BridgeError) {
      try script.emit(event, value)
      return .taken
    } catch {
      return error.code == BridgeError.Code.invalidArguments.rawValue ? .misuse : hasClosed ? .closed : .full
    }
  }

  /// Takes a plug-in's answer or progress for a call that it got by polling. Callable from any thread; never blocks.
  /// - Parameters:
  ///   - kind: 1: a result, 2: an error, 3: progress, as in `tureen.h`.
  ///   - text: JSON text. An error is an object; its `domain` defaults to the service and its `code` to `failed`.
  ///   - isEncoded: Whether our own encoder made the text, so that it needs no check.
  func answer(_ id: Int64, _ kind: Int32, _ text: UnsafeRawBufferPointer, isEncoded: Bool) -> AnswerStatus {
    guard let call = pluginCalls.find(id), case .poller = call.receiver else {
      guard !pluginCalls.isClosed else { return .closed }
      return late(id)
    }
    let parsed = { try? JSONValue(parsing: Array(text)) }
    switch kind {
    case 1:
      guard isEncoded || parsed() != nil else { return .misuse }
      return call.ticket.succeed(Payload(copying: text)) ? .taken : late(id)
    case 2:
      guard let error = parsed()?.objectValue else { return .misuse }
      return call.ticket.fail(BridgeError(of: error, service: call.service)) ? .taken : late(id)
    case 3:
      guard isEncoded || parsed() != nil else { return .misuse }
      return call.ticket.progress(Payload(copying: text)) ? .taken : late(id)
    default: return .misuse
    }
  }

  private func late(_ id: Int64) -> AnswerStatus {
    host.plugins.warn(
      "an answer to call \(id) is dropped: the call has already been answered or cancelled, or no plug-in has received it")
    return .notOpen
  }

  /// Logs the calls that plug-ins had not answered when the host was closed.
  func warn(ofUnanswered calls: [PluginCalls.Open]) {
    var counts: [String: Int] = [:]
    for call in calls { counts["plug-in '\(call.service)' has not answered '\(call.action)'", default: 0] += 1 }
    for (text, count) in counts.sorted(by: { $0.key < $1.key }) {
      host.plugins.warn("\(text)\(count > 1 ? " \(count) times" : ""); the host is closed")
    }
  }
}

extension BridgeError {
  /// Reads a plug-in's error, `{domain?, code?, message?, retryable?, ...}`.
  init(of object: JSONObject, service: String) {
    self.init(
      domain: object["domain"]?.stringValue ?? service, code: object["code"]?.stringValue ?? "failed",
      message: object["message"]?.stringValue ?? "the plug-in gave no message",
      isRetryable: object["retryable"]?.boolValue ?? false,
      details: object.filtered { !["domain", "code", "message", "retryable"].contains($0.key) })
  }
}
