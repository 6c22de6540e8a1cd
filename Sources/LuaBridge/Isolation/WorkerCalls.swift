import CIsolation
import CLuaBridge
import Glibc

/// Performs a worker's requests through a bridge, and addresses the bridge's messages to the worker. Does no I/O; runs on the
/// bridge's thread.
///
/// It trusts no frame, because the script may have taken over its process.
final class WorkerCalls {
  /// An accepted call that has not ended.
  private struct Open {
    let workerCall: Int64
    let argumentBytes: Int
    let isObserver: Bool
  }

  private let bridge: Bridge
  private(set) var lastCall: Int64 = 0  // the largest id that the worker has given
  private var open: [Int64: Open] = [:]  // by the bridge's id
  private var ids: [Int64: Int64] = [:]  // the worker's id -> the bridge's, of open calls
  private var argumentBytes = 0
  private var plugins: [Int64: String] = [:]  // number -> service

  init(bridge: Bridge) { self.bridge = bridge }

  /// Whether calls with ids up to this one are still open. Observers, which end with the script, do not count.
  func hasOpenCalls(upTo last: Int64) -> Bool { open.values.contains { !$0.isObserver && $0.workerCall <= last } }

  /// Performs a frame. Immediate answers go to `outbox`.
  /// - Throws: If a genuine worker would not send the frame.
  func perform(_ frame: WorkerFrame, _ outbox: inout WorkerOutbox) throws(WorkerViolation) {
    switch frame.kind {
    case .call: try call(frame, &outbox)
    case .cancel: if let id = ids[frame.number] { bridge.cancel(id) }
    case .plug: try plug(frame, &outbox)
    case .unplug: unplug(frame.number, &outbox)
    case .answer: answer(frame, &outbox)
    case .emit: try emit(frame, &outbox)
    case .ready, .done: throw WorkerViolation("a frame of the kind \(frame.kind.rawValue) at the wrong time")
    }
  }

  private func call(_ frame: WorkerFrame, _ outbox: inout WorkerOutbox) throws(WorkerViolation) {
    guard frame.number > lastCall else { throw WorkerViolation("ids of calls that do not grow") }
    lastCall = frame.number
    let pieces = try frame.split(frame.parts.1, frame.parts.2)
    let service = try WorkerFrame.name(pieces[0]), action = try WorkerFrame.name(pieces[1])
    do throws(BridgeError) {
      try WorkerAllowList.check(service, action, own: plugins.values, in: bridge.host.plugins)
      let id = try accept(pieces, wantsRecords: frame.parts.0 == 1)
      ids[frame.number] = id
      open[id] = Open(
        workerCall: frame.number, argumentBytes: pieces[2].count, isObserver: action == SmartStoreAction.observe.rawValue)
      argumentBytes += pieces[2].count
    } catch {
      outbox.refuse(frame.number, error)
    }
  }

  /// The arguments decide which store is used: a call that claims another store would run concurrently with that store's calls.
  private func accept(_ pieces: [ArraySlice<UInt8>], wantsRecords: Bool) throws(BridgeError) -> Int64 {
    guard argumentBytes + pieces[2].count <= Tuning.workerArgumentBytes else {
      throw .bridge(.mailboxFull, "the arguments of the calls under way are too large together", isRetryable: true)
    }
    let arguments = Array(pieces[2]), store = Self.store(of: arguments)
    let accepted: Result<Int64, BridgeError> = pieces[0].withUnsafeBytes { service in
      pieces[1].withUnsafeBytes { action in
        do throws(BridgeError) {
          return .success(
            try bridge.call(service: service, action: action, store: store, arguments: arguments, wantsRecords: wantsRecords))
        } catch {
          return .failure(error)
        }
      }
    }
    return try accepted.get()
  }

  /// Returns the store that the arguments name. Most name none, which a scan of the text detects without parsing it.
  private static func store(of arguments: [UInt8]) -> StoreReference {
    let canName = arguments.withUnsafeBytes { text in
      tureen_may_name_store(text.baseAddress?.assumingMemoryBound(to: CChar.self), text.count) != 0
    }
    return canName ? StoreReference(ofArguments: arguments) : StoreReference()
  }

  private func plug(_ frame: WorkerFrame, _ outbox: inout WorkerOutbox) throws(WorkerViolation) {
    let pieces = try frame.split(frame.parts.1)
    let service = try WorkerFrame.name(pieces[0])
    guard let spec = String(validating: pieces[1], as: UTF8.self) else { throw WorkerViolation("a text that is not UTF-8") }
    do throws(BridgeError) {
      guard plugins.count < Tuning.workerPlugins else {
        throw .bridge(.invalidArguments, "an isolated script can have \(Tuning.workerPlugins) plug-ins at once")
      }
      let number = try bridge.register(service, frame.parts.2 == 1 ? spec : nil, hearsCancel: frame.parts.0 == 1)
      plugins[number] = service
      outbox.reply(number)
    } catch {
      outbox.reply(0, error)
    }
  }

  private func unplug(_ number: Int64, _ outbox: inout WorkerOutbox) {
    let isOwn = plugins.removeValue(forKey: number) != nil
    outbox.reply(isOwn && bridge.host.plugins.unregister(number) ? 1 : 0)
  }

  private func answer(_ frame: WorkerFrame, _ outbox: inout WorkerOutbox) {
    let status = ids[frame.number].map { id in
      frame.body.withUnsafeBytes { bridge.answer(id, Int32(truncatingIfNeeded: frame.parts.0), $0, isEncoded: false) }
    }
    outbox.reply(Int64((status ?? .notOpen).rawValue))
  }

  private func emit(_ frame: WorkerFrame, _ outbox: inout WorkerOutbox) throws(WorkerViolation) {
    let pieces = try frame.split(frame.parts.0)
    let status = bridge.emit(try WorkerFrame.name(pieces[0]), Array(pieces[1]))
    outbox.reply(Int64(status.rawValue))
  }

  /// Addresses a message of the bridge to the worker.
  func forward(_ message: Mailbox.Message, _ outbox: inout WorkerOutbox) {
    let payload = message.payload.release()
    defer { free(payload.data) }
    guard let number = address(message) else { return }
    guard payload.length <= Int(UInt32.max) else {
      return outbox.refuse(number, .bridge(.internal, "the answer is larger than 4 GiB"))
    }
    let plugin = UInt64(bitPattern: message.plugin)
    outbox.append(
      Int(TUREEN_FRAME_MESSAGE), number: number,
      parts: (
        UInt32(message.kind.rawValue), message.kind == .call ? UInt32(message.actionLength) : message.isProgress ? 1 : 0,
        UInt32(truncatingIfNeeded: plugin), UInt32(plugin >> 32)
      ), UnsafeRawBufferPointer(start: payload.data, count: payload.length))
  }

  /// The worker's id for the subject of the message; nil for a call that it did not make.
  private func address(_ message: Mailbox.Message) -> Int64? {
    switch message.kind {
    case .request: return message.call
    case .event: return open[message.call]?.workerCall ?? message.call
    case .update, .progress, .call, .callOver: return open[message.call]?.workerCall
    case .result, .error, .end, .fail:
      guard let call = open.removeValue(forKey: message.call) else { return nil }
      ids[call.workerCall] = nil
      argumentBytes -= call.argumentBytes
      return call.workerCall
    }
  }

  /// Removes the plug-ins that the worker has added to the host.
  func close() {
    for number in plugins.keys { _ = bridge.host.plugins.unregister(number) }
    plugins = [:]
  }
}
