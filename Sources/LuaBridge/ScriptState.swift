import CLuaBridge
import Glibc

/// A Lua state with the standard libraries and the bridge, for programs that run scripts.
///
/// One thread at a time may use it. The program must be linked with Lua.
public final class ScriptState {
  /// The result of a script.
  public enum Outcome: Sendable, Equatable {
    case done
    /// The script raised an error. The message contains the traceback; it is empty if the errors of callbacks were already
    /// printed to stderr.
    case failed(message: String)
    /// The file cannot be read or compiled.
    case notRunnable(message: String)
    /// The script reached a limit. The message names the place, the limit and the option of `tureen run` that sets it.
    case limitReached(ScriptLimits.Kind, message: String)
    /// `tureen.main` ended the script with this exit status, 1...255. Its message is already printed to stderr.
    case exited(status: Int32)
  }

  /// The kind of an uncaught error, for the exit status of a program.
  public struct Failure: Sendable, Equatable {
    public let domain: String
    public let code: String
    /// The reason why a sign-in was refused; empty for other errors.
    public let reason: String

    /// - Parameter text: "domain/code/reason", as C has it; empty without an error.
    init?(_ text: String) {
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 3 else { return nil }
      domain = String(parts[0])
      code = String(parts[1])
      reason = String(parts[2])
    }
  }

  /// The state's bridge, for `interrupt`.
  public let bridge: Bridge
  private var state: OpaquePointer?

  /// - Throws: `internal` or `memoryLimit` if there is no memory or no descriptor for the state. The host is then shut down.
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

  /// Runs a file with its arguments in `arg` and `...`, then polls until no call is pending.
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

  /// Runs a script's text like a file. - Parameter name: The chunk's name in Lua's form: "=name" or "@file".
  public func run(text: String, name: String = "=script") -> Outcome {
    var text = text
    return text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        run { state, error in
          // An empty text has no address, but C requires one.
          characters.baseAddress.map { tureen_state_run_text(state, $0, characters.count, name, error) }
            ?? tureen_state_run_text(state, "", 0, name, error)
        }
      }
    }
  }

  /// The first uncaught error of the last script; nil if there was none or it was not a `tureen.Error`.
  public var failure: Failure? {
    state.flatMap { Failure(String(cString: tureen_state_failure($0))) }
  }

  /// Closes the state and its bridge, and shuts down the host. Pending calls are dropped. A second call has no effect.
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

  /// The state; nil once it is closed.
  var openState: OpaquePointer? { state }

  static func take(_ bytes: inout tureen_bytes) -> String? {
    guard let data = bytes.data else { return nil }
    defer { free(data) }
    return String(decoding: UnsafeRawBufferPointer(start: data, count: bytes.length), as: UTF8.self)
  }
}
