import CIsolation
import CLuaBridge
import Glibc
import Support

/// Runs one script in its own process, which has no files, no network and no secrets. It can only call the bridge, and this
/// process checks each call.
///
/// The host stays in this process and should be restricted; the script may do what a restricted script may do. Use it from one
/// thread, which must live until ``run(file:arguments:)`` returns: the worker dies with that thread.
public final class IsolatedScript: @unchecked Sendable {
  public struct Settings: Sendable {
    public var limits = ScriptLimits()
    /// Bytes by which the memory of this process may grow while the script runs, because of its calls; nil for no limit. For
    /// processes that do little else.
    public var hostMemory: UInt64?
    /// The program of the worker process; nil for ``IsolatedScript/installedWorker``.
    public var worker: String?
    /// Whether to run the script even if the system cannot filter system calls.
    public var allowsMissingFilter = false
    /// The descriptors that get the script's output.
    public var output = STDOUT_FILENO, errors = STDERR_FILENO

    public init() {}
  }

  /// The bridge of the worker's calls, for `interrupt` and its watchers.
  public let bridge: Bridge
  /// The first uncaught error of the script; nil if there is none, or if it is not a `tureen.Error`.
  public private(set) var failure: ScriptState.Failure?
  /// The errno with which what the last script printed could not be written; 0 if it was, or if its reader is gone.
  public private(set) var outputFailure: Int32 = 0
  /// Whether the script did not return to the bridge after an interrupt.
  public private(set) var wasBrokenOff = false
  private let host: IsolatedHost
  private let settings: Settings
  private let control: Int32
  // Touched only with `lock` held.
  private let lock = Lock()
  private var process: WorkerProcess?
  private var isInterrupted = false
  private let closing: IsolatedClosing
  private var timeEnd = Int64.max  // when the time limit of the last script ends; the bridge's thread only

  /// - Throws: If no descriptor is available. The host is shut down then.
  public init(host: any BridgeHost, settings: Settings = Settings()) throws(BridgeError) {
    self.settings = settings
    self.host = IsolatedHost(host)
    control = tureen_signal_open()
    guard control >= 0 else {
      host.shutdown()
      throw .bridge(.internal, "no descriptor for a script: \(String(cString: strerror(errno)))", isRetryable: true)
    }
    do throws(BridgeError) {
      bridge = try Bridge(host: self.host)
    } catch {
      Glibc.close(control)
      host.shutdown()
      throw error
    }
    closing = IsolatedClosing(bridge)
    bridge.mailbox.observeBytes { [backlog = self.host.backlog] in backlog.note($0) }
  }

  deinit {
    close()
    Glibc.close(control)
  }

  /// The worker that is installed with the running program, or with the library that contains this code: beside it, or in
  /// `libexec/tureen` of its prefix. Nil if there is none.
  public static var installedWorker: String? {
    ownFolders.flatMap { folder in workerPlaces.map { "\(folder)/\($0)" } }.first { access($0, X_OK) == 0 }
  }

  /// Relative to the folder of the command, of the library, and of a library in a folder named after the architecture.
  private static let workerPlaces = [
    "tureen-worker", "../libexec/tureen/tureen-worker", "../../libexec/tureen/tureen-worker",
  ]

  /// The folders of the running program and of the library.
  private static var ownFolders: [String] {
    let library = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
      tureen_own_library(buffer.baseAddress!) == 0 ? nil : String(cString: buffer.baseAddress!)
    }
    return ([ownPath] + (library.map { [$0] } ?? [])).map { FileSystem.folder(of: $0) }
  }

  private static var ownPath: String {
    withUnsafeTemporaryAllocation(byteCount: Int(PATH_MAX), alignment: 1) { buffer in
      let count = readlink("/proc/self/exe", buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
      return String(decoding: UnsafeRawBufferPointer(rebasing: buffer[..<max(0, count)]), as: UTF8.self)
    }
  }

  /// Runs a file with its arguments in `arg` and `...` until nothing is pending. This process reads the file.
  public func run(file path: String, arguments: [String] = []) -> IsolatedOutcome {
    guard let text = FileSystem.read(path, most: Tuning.workerScriptBytes) else {
      if errno == EFBIG { return Self.tooLarge(path) }
      return .script(.notRunnable(message: "cannot open \(path): \(String(cString: strerror(errno)))"))
    }
    return run(text: text, path: path, arguments: arguments)
  }

  /// Does the same with the text of a script. - Parameter path: The name of the script in messages and in `arg[0]`.
  public func run(text: [UInt8], path: String = "script", arguments: [String] = []) -> IsolatedOutcome {
    guard text.count <= Tuning.workerScriptBytes else { return Self.tooLarge(path) }
    let process: WorkerProcess
    do throws(BridgeError) {
      process = try start()
    } catch {
      return .workerEnded(WorkerEnd(.notStarted, error.message))
    }
    defer { lock.withLock { self.process = nil } }
    let run = WorkerRun(
      process: process, bridge: bridge, backlog: host.backlog, limits: settings.limits,
      memory: settings.hostMemory.map { HostMemory(growth: $0) },
      needsFilter: !settings.allowsMissingFilter, outputs: (settings.output, settings.errors))
    let outcome = run.run(WorkerScript(path: path, arguments: arguments, text: text), control: control)
    failure = run.failure
    outputFailure = run.outputFailure
    wasBrokenOff = run.wasBrokenOff
    timeEnd = run.timeEnd
    if outcome.isByForce { closing.hurry() }
    return outcome
  }

  private static func tooLarge(_ path: String) -> IsolatedOutcome {
    .script(.notRunnable(message: "\(path): an isolated script can have 64 MiB of text at most"))
  }

  private func start() throws(BridgeError) -> WorkerProcess {
    guard let program = settings.worker ?? Self.installedWorker else {
      throw .bridge(
        .internal, "tureen-worker is not installed beside \(Self.ownPath), or in ../libexec/tureen; install it, or name its path")
    }
    let process = try WorkerProcess(program: program)
    lock.withLock { self.process = process }
    return process
  }

  /// Asks the script to end, like ``Bridge/interrupt()``, and ends its process if it does not. Callable from any thread.
  public func interrupt() {
    bridge.interrupt()
    let isFirst = lock.withLock { () -> Bool in
      defer { isInterrupted = true }
      return !isInterrupted
    }
    closing.hurry()
    if isFirst { tureen_signal_set(control, 1) }
  }

  /// Suspends or resumes the script's process. Callable from any thread.
  public func suspend() { lock.withLock { process }?.signal(SIGSTOP) }
  public func resume() { lock.withLock { process }?.signal(SIGCONT) }

  /// The id of the script's process while it runs.
  package var processID: pid_t? { lock.withLock { process?.id } }

  /// Closes the bridge and shuts down the host. Call it after `run`; a second call has no effect.
  ///
  /// Calls that a script made before it ended by itself are completed, within its time limit. If the script was ended or
  /// interrupted, those that have not begun are dropped, and the others are cancelled as far as possible.
  /// - Returns: False if a call has not ended even so, after five seconds. The host is shut down once it ends.
  @discardableResult
  public func close() -> Bool {
    host.backlog.close()
    return closing.close(by: timeEnd)
  }
}
