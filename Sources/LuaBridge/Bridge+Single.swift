import CLuaBridge
import Glibc
import JSON

/// Single calls for programs without a Lua state.
extension Bridge {
  /// The result of a call.
  public enum Reply: Sendable {
    /// The payload of the success callback as JSON text; for a sync its last state, DONE or STOPPED.
    case success([UInt8])
    /// The error object as JSON text; for a sync it contains the state as `sync`.
    case failure([UInt8])
  }

  /// Makes a call and waits for its end. Only one thread may use the bridge.
  ///
  /// An interrupt cancels the call, and this function waits until it has ended. Custom sync targets fail, because they need a
  /// script.
  /// - Parameter arguments: The arguments of `tureen.exec`, including the keys that select the store.
  public func perform(service: String, action: String, arguments: JSONObject) -> Reply {
    do throws(BridgeError) {
      let id = try begin(service, action, arguments)
      return end(of: id)
    } catch {
      return .failure(error.serialized)
    }
  }

  private func begin(_ service: String, _ action: String, _ arguments: JSONObject) throws(BridgeError) -> Int64 {
    let store = StoreReference(of: arguments)
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
      _ = mailbox.clearWake()
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
      var readable = pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0)
      poll(&readable, 1, -1)
      isWaiting(false)
    }
  }

  /// Refuses a request to the script, because there is none.
  private func refuse(_ request: Mailbox.Message) {
    _ = try? begin("tureen.script", "answer", ["request": .integer(request.call), "noScript": true])
  }

  private static func text(of payload: Payload) -> [UInt8] {
    let bytes = payload.release()
    defer { free(bytes.data) }
    return Array(UnsafeRawBufferPointer(start: bytes.data, count: bytes.length))
  }
}
