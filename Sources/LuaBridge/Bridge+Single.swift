import CLuaBridge
import Glibc
import JSON

/// One call without a script, for programs that have no Lua state.
extension Bridge {
  /// What a call came to.
  public enum Reply: Sendable {
    /// The payload of the success callback as JSON text; of a sync its last state, DONE or STOPPED.
    case success([UInt8])
    /// The error object as JSON text; of a sync with its state as `sync`.
    case failure([UInt8])
  }

  /// Makes a call and waits for its end on this thread, the only one that uses the bridge.
  ///
  /// An interrupt gives the call up; its end is still waited for. A custom sync target, which lives in a script, fails.
  /// - Parameter arguments: As `tureen.exec` takes them, the store's keys included.
  public func perform(service: String, action: String, arguments: JSONObject) -> Reply {
    do throws(BridgeError) {
      let id = try begin(service, action, arguments)
      return end(of: id)
    } catch {
      return .failure(error.serialized)
    }
  }

  private func begin(_ service: String, _ action: String, _ arguments: JSONObject) throws(BridgeError) -> Int64 {
    let store = StoreReference(
      name: arguments["storeName"]?.stringValue ?? StoreReference.defaultName,
      isGlobal: arguments["isGlobalStore"]?.boolValue ?? false)
    let names = (Array(service.utf8), Array(action.utf8)), text = arguments.serialized()
    let accepted: Result<Int64, BridgeError> = names.0.withUnsafeBytes { service in
      names.1.withUnsafeBytes { action in
        do throws(BridgeError) {
          return .success(try call(service: service, action: action, store: store, arguments: text))
        } catch {
          return .failure(error)
        }
      }
    }
    return try accepted.get()
  }

  private func end(of id: Int64) -> Reply {
    var wasCancelled = false
    while true {
      _ = mailbox.answerWake()
      while let message = mailbox.take() {
        if message.kind == .request {
          refuse(message)
        } else if message.call == id, [.result, .end, .error, .fail].contains(message.kind) {
          let text = Self.text(of: message.payload)
          return [.error, .fail].contains(message.kind) ? .failure(text) : .success(text)
        }
      }
      if hasInterrupt, !wasCancelled {
        wasCancelled = true
        cancel(id)
      }
      isWaiting(true)
      var news = pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0)
      poll(&news, 1, -1)
      isWaiting(false)
    }
  }

  /// Native code asks the script, and there is none.
  private func refuse(_ request: Mailbox.Message) {
    _ = try? begin("tureen.script", "answer", ["request": .integer(request.call), "noScript": true])
  }

  private static func text(of payload: Payload) -> [UInt8] {
    let bytes = payload.release()
    defer { free(bytes.data) }
    return Array(UnsafeRawBufferPointer(start: bytes.data, count: bytes.length))
  }
}
