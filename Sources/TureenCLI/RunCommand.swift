import ArgumentParser
import Glibc
import JSON
import LuaBridge
import RestClient
import SmartStore
import Support
import Synchronization
import Tureen

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run a script and wait until its calls and syncs have finished.",
    discussion: """
      The script's folder may hold bootconfig.json, userstore.json, globalstore.json, usersyncs.json, globalsyncs.json and \
      connections.json. require looks for modules there first. Without --org or $TUREEN_ORG the script talks to the default org \
      of tureen orgs. Without one it talks to a sandbox org: the one that tureen sandbox serves under the same home, else one \
      that is started for it and keeps its data under the home.

      tureen login signs in to an org. Or name its address with --org or $TUREEN_ORG, and put the secrets into a JSON file named \
      by $TUREEN_CREDENTIALS or into $TUREEN_CLIENT_ID, $TUREEN_CLIENT_SECRET, $TUREEN_USERNAME and $TUREEN_PASSWORD. \
      $TUREEN_CA_FILE names a PEM file of certificates to trust in addition to the machine's own.

      With --json stdout holds one line of JSON for each event and nothing else; what the script and programs it starts print \
      goes to stderr.

      Ctrl-C and SIGTERM stop syncs at a page boundary and save them as STOPPED. A script that does not return to Tureen for \
      half a second is then interrupted, with a traceback. A second Ctrl-C ends at once, SIGTERM after two seconds.
      """
        + ExitStatus.help([
          (0, "done"),
          (1, "the script failed; the message is on stderr"),
          (64, "wrong usage"),
          (66, "the script cannot be read"),
          (
            67,
            "the script was ended by an error of the sign-in, or the org or user is not known; or --sandbox-only and another org"
          ),
          (69, "standard output cannot be written, such as on a full disk"),
          (70, "the script was ended with its process (--isolated); the message says why"),
          (75, "the script ended because sign-ins are limited for a while; try again later"),
          (77, "the script reached a limit; the message says which and where"),
          (78, "a configuration file is wrong; the message names file, line and key"),
          (130, "interrupted"),
        ]))

  @OptionGroup var place: HostOptions

  @Flag(help: "Print each sync event as a line of JSON on stdout; what the script prints goes to stderr. No progress bar.")
  var json = false

  @Flag(help: "Print no progress and no warnings.")
  var quiet = false

  @Flag(help: "Send nothing to connections: serve their stored answers only. Requests to the org are sent.")
  var offline = false

  @Flag(help: "Run the script only if the org is a sandbox.")
  var sandboxOnly = false

  @OptionGroup(title: "Scripts you did not write")
  var limits: LimitOptions

  @Argument(help: "The Lua script.", completion: .file(extensions: ["lua"]))
  var script: String

  @Argument(parsing: .captureForPassthrough, help: "Arguments of the script, in `arg` and `...`.")
  var arguments: [String] = []

  func run() throws {
    guard access(script, R_OK) == 0 else {
      complain("\(script): \(String(cString: strerror(errno)))")
      throw ExitCode(ExitStatus.scriptNotFound)
    }
    if limits.isRestricted { Store.limitMemory() }
    let display = SyncDisplay(style: json ? .json(try StandardOutput.setApart()) : quiet ? .none : .progress)
    let (host, sandbox) = try place.prepare(configDirectory: folder) {
      $0.actor = .ofScript(script)
      $0.isRestricted = limits.isRestricted
      $0.allowedHosts = Set(limits.allowHost)
      $0.allowedServices = Set(limits.allowService)
      $0.isOffline = offline
      $0.isSandboxOnly = sandboxOnly
    }
    let observed = ObservedHost(host, display: display)
    let status =
      try sandboxOnlyStatus(host)
      ?? (limits.isolated ? runIsolated(observed, host, display) : runScript(observed, host, display))
    sandbox.stop()
    guard status == 0 else { throw ExitCode(status) }
  }

  /// The exit status if the org must be a sandbox and is not; nil to continue.
  private func sandboxOnlyStatus(_ host: Host) -> Int32? {
    guard sandboxOnly else { return nil }
    do {
      try host.requireSandbox()
      return nil
    } catch {
      host.shutdown()
      complain(ErrorText.of(error))
      return ExitStatus.of(error)
    }
  }

  /// The script's folder.
  private var folder: String { FileSystem.folder(of: script) }

  /// Runs the script on this thread. Other threads watch for signals.
  private func runScript(_ observed: ObservedHost, _ host: Host, _ display: SyncDisplay) throws -> Int32 {
    let state: ScriptState
    do {
      state = try ModulePath.preferring(folder) { () throws(BridgeError) in
        try ScriptState(host: observed, limits: limits.values)
      }
    } catch {
      complain(error.message)
      return error.code == BridgeError.Code.memoryLimit.rawValue ? ExitStatus.limitReached : ExitStatus.scriptFailed
    }
    let bridge = state.bridge
    state.becomeBreakable()
    if offline { host.report(isOnline: false) }
    let overtime =
      !limits.values.isLimited
      ? nil
      : Overtime(limits.values) {
        display.clear()
        host.stopSyncs()
        host.shutdown()
      }
    let interrupts = InterruptWatch {
      display.clear()
      host.stopSyncs()
      bridge.interrupt()
      ScriptState.breakOff()
    }
    let suspensions = SuspensionWatch {
      host.pause()
      display.clear()
    } onContinue: {
      host.resume()
    }
    defer { withExtendedLifetime(suspensions) {} }
    display.follow(bridge)
    let outcome = state.run(file: script, arguments: arguments)
    let wasBrokenOff = state.wasBrokenOff, failure = state.failure
    display.finish(reported: failure)
    state.close()
    overtime?.cancel()
    if interrupts.happened {
      if wasBrokenOff, case .failed(let message) = outcome { complain(message) }
      return ExitStatus.interrupted
    }
    return Self.status(of: outcome, failure)
  }

  /// Says what there is to say about the end of a script, and gives what the command ends with.
  static func status(of outcome: ScriptState.Outcome, _ failure: ScriptState.Failure?) -> Int32 {
    switch outcome {
    case .done: return 0
    case .exited(let status): return status == ExitStatus.scriptFailed ? Self.status(after: failure) : status
    case .limitReached(_, let message):
      complain(message)
      return ExitStatus.limitReached
    case .notRunnable(let message), .failed(let message):
      if !message.isEmpty { complain(message) }
      return Self.status(after: failure)
    }
  }

  /// The exit status for the first uncaught error.
  private static func status(after failure: ScriptState.Failure?) -> Int32 {
    failure.flatMap { ExitStatus.of(domain: $0.domain, code: $0.code, reason: $0.reason) } ?? ExitStatus.scriptFailed
  }
}

/// Writes an error to stderr, as a JSON object if it has that form.
func complain(_ error: any Error, asJSON: Bool) {
  guard asJSON, let text = ErrorText.json(of: error) else { return complain(ErrorText.of(error)) }
  write(text + "\n", to: STDERR_FILENO)
}

/// How bad a message of the command is, for logs in JSON.
enum Severity: String {
  case info, notice, warning, error
}

/// Writes a line to stderr with control characters escaped; a JSON object if logs are to be JSON.
func complain(_ message: String, _ severity: Severity = .error) {
  guard LogFormat.current == .text else { return write(logLine(message, severity), to: STDERR_FILENO) }
  write("tureen: \(TerminalText.escaped(message))\n", to: STDERR_FILENO)
}

/// A message of the command as a line of a log in JSON.
func logLine(_ message: String, _ severity: Severity) -> String {
  LogLine.json(
    time: SystemClock.secondsSince1970(), level: severity.rawValue, label: "tureen.command", message: message)
}

/// Writes all of a text, without the buffers of the C library. Output without a reader is dropped; ``LostOutput`` notes other
/// failures of standard output.
func write(_ text: String, to descriptor: Int32) {
  let bytes = Array(text.utf8)
  guard FileSystem.write(bytes, to: descriptor) < bytes.count, descriptor == STDOUT_FILENO, errno != EPIPE else { return }
  LostOutput.note(errno)
}

/// Whether a part of standard output could not be written, such as to a full disk.
enum LostOutput {
  private static let first = Atomic<Int32>(0)

  /// The errno of the first failure; -1 if it is not known.
  static var failure: Int32? {
    let failure = first.load(ordering: .acquiring)
    return failure == 0 ? nil : failure
  }

  /// Notes a failure of what scripts print, which goes through the buffers of the C library.
  static func noteStandardStream() {
    let failure = ScriptOutput.flush()
    if failure != 0 { note(failure) }
  }

  static func note(_ failure: Int32) {
    _ = first.compareExchange(expected: 0, desired: failure, ordering: .acquiringAndReleasing)
  }
}
