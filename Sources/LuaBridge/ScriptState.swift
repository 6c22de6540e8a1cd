import CLuaBridge
import Glibc

/// A Lua state of our own with the standard libraries and the bridge: what a program without Lua needs to run scripts.
///
/// Belongs to one thread at a time. The program must be linked with Lua.
public final class ScriptState {
  /// How a script ended.
  public enum Outcome: Sendable, Equatable {
    case done
    /// The script raised; the message has the traceback. Empty when callbacks' errors were reported on stderr already.
    case failed(message: String)
    /// The file cannot be read, or is not Lua.
    case notRunnable(message: String)
    /// The script reached one of its limits; the message says where, which one, and the option of `tureen run` that sets it.
    case limitReached(ScriptLimits.Kind, message: String)
    /// `tureen.main` ended the script with this exit status, 1...255. What there is to say is on stderr already.
    case exited(status: Int32)
  }

  /// What kind of error nothing caught, for the exit status of a program.
  public struct Failure: Sendable, Equatable {
    public let domain: String
    public let code: String
    /// Why a sign-in was refused; empty for other errors.
    public let reason: String
  }

  /// The way in, for `interrupt`.
  public let bridge: Bridge
  private var state: OpaquePointer?

  /// - Throws: when there is no memory or no descriptor for it. The host is shut down then.
  public convenience init(host: any BridgeHost, limits: ScriptLimits = ScriptLimits()) throws(BridgeError) {
    try self.init(bridge: Bridge(host: host), limits: limits)
  }

  package init(bridge: Bridge, limits: ScriptLimits = ScriptLimits()) throws(BridgeError) {
    self.bridge = bridge
    var table = bridge.makeTable(), limitTable = limits.table
    var error = tureen_bytes(data: nil, length: 0)
    guard let state = tureen_state_open(&table, &limitTable, &error) else {
      let reason = Self.take(&error) ?? "no memory for a Lua state"
      guard limits.memory != nil else { throw .bridge(.internal, reason, isRetryable: true) }
      throw .bridge(.memoryLimit, "the memory limit is too small for Lua and its modules (--memory-limit): \(reason)")
    }
    self.state = state
  }

  deinit { close() }

  /// Runs a file with its arguments in `arg` and `...`, then polls until nothing is pending.
  public func run(file path: String, arguments: [String] = []) -> Outcome {
    var copies: [UnsafePointer<CChar>?] = arguments.map { strdup($0).map { UnsafePointer($0) } }
    defer { for copy in copies { free(UnsafeMutableRawPointer(mutating: copy)) } }
    copies.removeAll { $0 == nil }
    return run { state, error in
      copies.withUnsafeMutableBufferPointer { pointers in
        pointers.baseAddress.map {
          $0.withMemoryRebound(to: UnsafePointer<CChar>.self, capacity: pointers.count) {
            tureen_state_run_file(state, path, Int32(pointers.count), $0, error)
          }
        } ?? tureen_state_run_file(state, path, 0, nil, error)
      }
    }
  }

  /// The same for a script's text. - Parameter name: As Lua names chunks: "=name" or "@file".
  public func run(text: String, name: String = "=script") -> Outcome {
    var text = text
    return text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        run { state, error in
          // An empty text has no address, and C wants one.
          characters.baseAddress.map { tureen_state_run_text(state, $0, characters.count, name, error) }
            ?? tureen_state_run_text(state, "", 0, name, error)
        }
      }
    }
  }

  /// The first error of the last script that nothing caught; nil without one, or when it was not a `tureen.Error`.
  public var failure: Failure? {
    guard let state else { return nil }
    let parts = String(cString: tureen_state_failure(state)).split(separator: "/", omittingEmptySubsequences: false)
    return parts.count == 3 ? Failure(domain: String(parts[0]), code: String(parts[1]), reason: String(parts[2])) : nil
  }

  /// Ends the state and with it the bridge; the host is shut down. Calls in flight are dropped. Safe twice.
  public func close() {
    guard let state else { return }
    self.state = nil
    tureen_state_close(state)
  }

  private func run(_ body: (OpaquePointer, UnsafeMutablePointer<tureen_bytes>) -> Int32) -> Outcome {
    guard let state else { return .notRunnable(message: "the state is closed") }
    var error = tureen_bytes(data: nil, length: 0)
    let status = body(state, &error)
    let message = Self.take(&error) ?? ""
    switch status {
    case 0: return .done
    case 2: return .notRunnable(message: message)
    case 4: return .exited(status: tureen_state_exit_status(state))
    case 3: return .limitReached(ScriptLimits.Kind(rawValue: tureen_state_limit(state)) ?? .time, message: message)
    default: return .failed(message: message)
    }
  }

  /// Nil once it is closed.
  var openState: OpaquePointer? { state }

  static func take(_ bytes: inout tureen_bytes) -> String? {
    guard let data = bytes.data else { return nil }
    defer { free(data) }
    return String(decoding: UnsafeRawBufferPointer(start: data, count: bytes.length), as: UTF8.self)
  }
}
