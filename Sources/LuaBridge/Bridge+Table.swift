import CLuaBridge
import Glibc

extension Bridge {
  /// Creates the table of functions for C. It keeps the bridge alive until C calls `release`, which must happen exactly once.
  public func makeTable() -> tureen_host {
    tureen_host(
      context: Unmanaged.passRetained(self).toOpaque(),
      call: { context, request, refusal in
        Bridge.answer(refusal) { () throws(BridgeError) -> Int64 in
          try Bridge.from(context).call(request.pointee)
        }
      },
      cancel: { context, call in Bridge.from(context).cancel(call) },
      waiting: { context in
        let bridge = Bridge.from(context)
        bridge.isWaiting(false)
        return Int64(bridge.mailbox.clearWake())
      },
      take: { context, out in
        guard let message = Bridge.from(context).mailbox.take() else { return 0 }
        out.pointee = tureen_message(
          call: message.call, kind: message.kind.rawValue, payload: message.payload.release(), plugin: message.plugin,
          action_length: message.actionLength)
        return 1
      },
      wait_fd: { context in
        let bridge = Bridge.from(context)
        bridge.isWaiting(true)
        return bridge.mailbox.descriptor
      },
      wake: { context in Bridge.from(context).mailbox.wake() },
      interrupted: { context in Bridge.from(context).hasInterrupt ? 1 : 0 },
      configure: { context, json, length, refusal in
        Bridge.answer(refusal) { () throws(BridgeError) -> Int32 in
          try Bridge.from(context).configure(Array(UnsafeRawBufferPointer(start: json, count: length)))
          return 1
        }
      },
      register_plugin: { context, service, spec, hearsCancel, refusal in
        Bridge.answer(refusal) { () throws(BridgeError) -> Int64 in
          try Bridge.from(context).register(Bridge.text(service), spec.map(Bridge.text), hearsCancel: hearsCancel != 0)
        }
      },
      unregister_plugin: { context, plugin in Bridge.from(context).host.plugins.unregister(plugin) ? 1 : 0 },
      answer: { context, call, kind, json, length, isEncoded in
        let text = UnsafeRawBufferPointer(start: json, count: length)
        return Bridge.from(context).answer(call, kind, text, isEncoded: isEncoded != 0).rawValue
      },
      emit: { context, event, json, length in
        let detail = Array(UnsafeRawBufferPointer(start: json, count: length))
        return Bridge.from(context).emit(Bridge.text(event), detail).rawValue
      },
      embedded_call: { context, request, store, refusal in
        Bridge.answer(refusal) { () throws(BridgeError) -> Int64 in
          try Bridge.from(context).embeddedCall(request.pointee) { store.pointee = $0 }
        }
      },
      report: { context, state in (Bridge.from(context).host as? any ProgramReports)?.takeReport(state) },
      give_session: { context, json, length in
        let text = Array(UnsafeRawBufferPointer(start: json, count: length))
        return (Bridge.from(context).host as? any ProgramReports)?.takeSession(text) ?? -4
      },
      release: { context in
        guard let context else { return }
        Unmanaged<Bridge>.fromOpaque(context).takeRetainedValue().close()
      })
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> Bridge { of(context!) }

  private func embeddedCall(
    _ request: tureen_request, storeMembers: (tureen_bytes) -> Void
  ) throws(BridgeError) -> Int64 {
    try call(
      service: UnsafeRawBufferPointer(start: request.service, count: request.service_length),
      action: UnsafeRawBufferPointer(start: request.action, count: request.action_length),
      arguments: Array(UnsafeRawBufferPointer(start: request.arguments, count: request.arguments_length)),
      storeMembers: storeMembers)
  }

  private func call(_ request: tureen_request) throws(BridgeError) -> Int64 {
    try call(
      service: UnsafeRawBufferPointer(start: request.service, count: request.service_length),
      action: UnsafeRawBufferPointer(start: request.action, count: request.action_length),
      store: StoreReference(
        name: request.store_name.map { Self.text($0, request.store_name_length) } ?? StoreReference.defaultName,
        isGlobal: request.is_global_store != 0),
      arguments: Array(UnsafeRawBufferPointer(start: request.arguments, count: request.arguments_length)),
      isEncoded: true, wantsRecords: request.wants_records != 0)
  }

  private static func text(_ text: UnsafePointer<CChar>) -> String { String(cString: text) }

  private static func text(_ start: UnsafePointer<CChar>, _ length: Int) -> String {
    String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
  }

  /// Returns the result of `body`; 0 with the error in `refusal` if it throws.
  private static func answer<Status: FixedWidthInteger>(
    _ refusal: UnsafeMutablePointer<tureen_bytes>, _ body: () throws(BridgeError) -> Status
  ) -> Status {
    do throws(BridgeError) { return try body() } catch {
      refusal.pointee = Payload(error.serialized).release()
      return 0
    }
  }
}
