import Glibc
import LuaBridge
import Support
import Synchronization

/// Runs untrusted scripts, each in its own process.
///
/// The script's process has no files, no network and no secrets; it can only call Tureen, which stays in this process and
/// checks each call. `bridge-spec/guide/security.md` says what an isolated script may do. Each run opens a restricted host with
/// these settings and closes it at the end; hosts with the same home share its stores as two processes would.
///
/// After a limit or a cancellation a run returns within seconds. A call of the script that cannot be ended, such as a function of
/// SQLite, goes on in a thread of its own, and its store stays in use so long.
public struct IsolatedRun: Sendable {
  /// The settings of the host, which is always restricted.
  public var settings: HostSettings
  /// Bytes of memory of the script; nil for 256 MiB.
  public var memoryLimit: UInt64?
  /// Instructions of Lua's virtual machine; nil for no limit.
  public var instructionLimit: UInt64?
  /// Milliseconds, including waits; nil for no limit.
  public var timeLimitMs: UInt64?
  /// Bytes by which the memory of this process may grow during the run, because of the script's calls; nil for no limit. For
  /// processes that do little else.
  public var hostMemoryLimit: UInt64?
  /// The path of `tureen-worker`; nil for the installed one: beside the program or the library, or in
  /// `libexec/tureen` of the same prefix.
  public var worker: String?
  /// True to run the script even if the system cannot filter system calls.
  public var allowsMissingFilter = false
  /// Descriptors that get what the script prints, and its error messages. They must stay open until the run has ended.
  public var output = STDOUT_FILENO, errors = STDERR_FILENO

  public init(settings: HostSettings = HostSettings()) { self.settings = settings }

  /// Runs a Lua file with its arguments in `arg` and `...`, until nothing is pending. Cancelling the task interrupts the script.
  /// - Throws: ``HostError`` if the settings are wrong.
  public func run(file path: String, arguments: [String] = []) async throws -> IsolatedEnd {
    try await perform { $0.run(file: path, arguments: arguments) }
  }

  /// Runs the text of a script.
  /// - Parameters:
  ///   - text: Lua source.
  ///   - name: Names the script in messages and in `arg[0]`.
  ///   - arguments: The script gets them in `arg` and `...`.
  /// - Throws: ``HostError`` if the settings are wrong.
  public func run(text: String, name: String = "script", arguments: [String] = []) async throws -> IsolatedEnd {
    try await perform { $0.run(text: Array(text.utf8), path: name, arguments: arguments) }
  }

  private func perform(_ body: @escaping @Sendable (IsolatedScript) -> IsolatedOutcome) async throws -> IsolatedEnd {
    let stop = IsolatedStop()
    return try await withTaskCancellationHandler {
      try await Blocking.offPool { try perform(stop, body) }
    } onCancel: {
      stop.request()
    }
  }

  /// Opens the host, runs the script, and closes the host. Blocks.
  func perform(_ stop: IsolatedStop, _ body: (IsolatedScript) -> IsolatedOutcome) throws -> IsolatedEnd {
    var settings = settings
    settings.isRestricted = true
    let host = Host(settings: settings)
    try host.prepare()
    let script = try IsolatedScript(host: host, settings: scriptSettings)
    stop.onRequest {
      host.stopSyncs()
      script.interrupt()
    }
    let outcome = body(script)
    script.close()
    return stop.end() ? .interrupted : IsolatedEnd(outcome, script.failure)
  }

  private var scriptSettings: IsolatedScript.Settings {
    var result = IsolatedScript.Settings()
    result.limits.memory = memoryLimit
    result.limits.instructions = instructionLimit
    result.limits.timeMs = timeLimitMs
    result.hostMemory = hostMemoryLimit
    result.worker = worker
    result.allowsMissingFilter = allowsMissingFilter
    result.output = output
    result.errors = errors
    return result
  }
}

/// The request to end a script, which may come before the script has started.
final class IsolatedStop: Sendable {
  private struct State {
    var isRequested = false
    var action: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// Callable from any thread.
  func request() {
    let action = state.withLock { state in
      state.isRequested = true
      return state.action
    }
    action?()
  }

  /// Sets what a request does; it is called at once if one was made before.
  func onRequest(_ action: @escaping @Sendable () -> Void) {
    let isRequested = state.withLock { state in
      state.action = action
      return state.isRequested
    }
    if isRequested { action() }
  }

  /// Later requests do nothing.
  /// - Returns: True if one was made.
  func end() -> Bool {
    state.withLock { state in
      state.action = nil
      return state.isRequested
    }
  }
}
