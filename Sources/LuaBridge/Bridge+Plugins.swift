import CLuaBridge
import JSON

/// Calls of services that are not Tureen's own.
extension Bridge {
  /// What became of a plug-in's answer. Raw values: `tureen.h`.
  enum AnswerStatus: Int32 {
    case taken = 0
    /// The kind is none of the three, the text is not JSON, or an error is not an object.
    case misuse = -1
    case closed = -2
    /// The call was answered before, was given up, or was never one of a plug-in that answers this way.
    case notOpen = -6
  }

  /// What became of a plug-in's event. Raw values: `tureen.h`.
  enum EventStatus: Int32 {
    case taken = 0
    /// The name is not a plug-in's, or the detail is not JSON.
    case misuse = -1
    case closed = -2
    /// Too much waits to be polled.
    case full = -4
  }

  /// Accepts a call of a plug-in and returns its id. On the Lua thread. What is wrong with it is answered through the mailbox.
  /// - Throws: `mailboxFull`.
  func callPlugin(
    _ service: String, _ action: String, store: StoreReference, arguments: [UInt8]
  ) throws(BridgeError) -> Int64 {
    let found: Result<Plugins.Entry, BridgeError>
    do throws(BridgeError) { found = .success(try host.plugins.find(service, action)) } catch { found = .failure(error) }
    let places = (try? found.get())?.places ?? Tuning.placesOfCall
    let ticket = try book(places) { [weak self] in self?.pluginCalls.remove($0) }
    do throws(BridgeError) {
      try begin(found.get(), action, store, arguments, ticket)
    } catch {
      ticket.fail(error)
    }
    return ticket.id
  }

  private func begin(
    _ plugin: Plugins.Entry, _ action: String, _ store: StoreReference, _ arguments: [UInt8], _ ticket: CallTicket
  ) throws(BridgeError) {
    switch plugin.receiver {
    case .blocking(let handler):
      lanes.submit(store) { Self.run(handler, plugin.service, action, arguments, ticket) }
    case .tasks(let actions):
      guard let perform = actions[action] else { return }  // looked up already
      let call = PluginCalls.Open(service: plugin.service, action: action, ticket: ticket, isPolled: false)
      try pluginCalls.add(call)
      let task = Task.detached { await Self.run(perform, plugin, action, arguments, ticket) }
      call.cancellation.onCancel { task.cancel() }
    case .poller(let hearsCancel):
      let checked = JSONValue.object(try plugin.checked(action, arguments)).serialized()
      let call = PluginCalls.Open(service: plugin.service, action: action, ticket: ticket, isPolled: true)
      try pluginCalls.add(call)
      hand(call, checked, to: plugin.number, hearsCancel: hearsCancel)
    }
  }

  /// Puts a call into the mailbox, and its cancellation when that comes.
  private func hand(_ call: PluginCalls.Open, _ arguments: [UInt8], to plugin: Int64, hearsCancel: Bool) {
    let id = call.ticket.id, action = Array(call.action.utf8)
    mailbox.post(
      .init(
        call: id, kind: .call, payload: Payload(action + [0] + arguments), plugin: plugin, actionLength: action.count))
    call.cancellation.onCancel { [mailbox, weak ticket = call.ticket] in
      if hearsCancel {
        mailbox.post(.init(call: id, kind: .callOver, payload: Payload([]), plugin: plugin))
      } else {
        ticket?.fail(BridgeError.bridge(.cancelled, "the call was cancelled; the plug-in does not listen for that"))
      }
    }
  }

  /// On the lane of the call's store.
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
        ticket.progress($0.serialized())
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

  /// Registers a plug-in whose calls the poller hands over. Any thread. It belongs to the program or the script itself, so
  /// restricted scripts may call it.
  /// - Parameter spec: JSON text as ``PluginSpec`` has it.
  /// - Returns: The number that its calls come with.
  /// - Throws: `invalidArguments`.
  func register(_ service: String, _ spec: String?, hearsCancel: Bool) throws(BridgeError) -> Int64 {
    let spec = try spec.map { text throws(BridgeError) in try PluginSpec(parsing: text, service: service) }
    return try host.plugins.register(service, .poller(hearsCancel: hearsCancel), spec: spec, isSafe: true)
  }

  /// Tells an event with a detail in JSON. Any thread.
  func emit(_ event: String, _ detail: [UInt8]) -> EventStatus {
    guard let value = try? JSONValue(parsing: detail) else { return .misuse }
    do throws(BridgeError) {
      try script.emit(event, value)
      return .taken
    } catch {
      return error.code == BridgeError.Code.invalidArguments.rawValue ? .misuse : hasClosed ? .closed : .full
    }
  }

  /// Takes a plug-in's answer, or a progress, for a call that the poller was handed. Any thread; never blocks.
  /// - Parameters:
  ///   - kind: 1 a result, 2 an error, 3 a progress, as in `tureen.h`.
  ///   - text: JSON; of an error an object, whose `domain` is the service and whose `code` is `failed` where it has none.
  func answer(_ id: Int64, _ kind: Int32, _ text: [UInt8]) -> AnswerStatus {
    guard let call = pluginCalls.find(id), call.isPolled else {
      guard !pluginCalls.isClosed else { return .closed }
      return late(id)
    }
    guard let value = try? JSONValue(parsing: text) else { return .misuse }
    switch kind {
    case 1: return call.ticket.succeed(text) ? .taken : late(id)
    case 2:
      guard let error = value.objectValue else { return .misuse }
      return call.ticket.fail(BridgeError(of: error, service: call.service)) ? .taken : late(id)
    case 3: return call.ticket.progress(text) ? .taken : late(id)
    default: return .misuse
    }
  }

  private func late(_ id: Int64) -> AnswerStatus {
    host.plugins.warn("an answer to call \(id) is dropped: it was answered or given up before, or no plug-in has got it")
    return .notOpen
  }

  /// Logs the plug-ins that the end of the host has found without an answer.
  func warn(ofUnanswered calls: [PluginCalls.Open]) {
    var counts: [String: Int] = [:]
    for call in calls { counts["plug-in '\(call.service)' has not answered '\(call.action)'", default: 0] += 1 }
    for (text, count) in counts.sorted(by: { $0.key < $1.key }) {
      host.plugins.warn("\(text)\(count > 1 ? " \(count) times" : ""); the host is closed")
    }
  }
}

extension BridgeError {
  /// An error as a plug-in gives it: `{domain?, code?, message?, retryable?, ...}`.
  init(of object: JSONObject, service: String) {
    self.init(
      domain: object["domain"]?.stringValue ?? service, code: object["code"]?.stringValue ?? "failed",
      message: object["message"]?.stringValue ?? "the plug-in gave no message",
      isRetryable: object["retryable"]?.boolValue ?? false,
      details: object.filtered { !["domain", "code", "message", "retryable"].contains($0.key) })
  }
}
