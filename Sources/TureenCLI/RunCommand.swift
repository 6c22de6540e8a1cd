import ArgumentParser
import Glibc
import JSON
import LuaBridge
import Support
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
      $TUREEN_CA_FILE names a PEM file of certificates to trust beside the machine's own.

      With --json stdout holds one line of JSON for each event and nothing else; what the script and programs it starts print \
      goes to stderr.

      Ctrl-C and SIGTERM stop syncs at a page boundary and save them as STOPPED. A script that does not return to Tureen for \
      half a second is then interrupted, with a traceback. A second Ctrl-C ends at once, SIGTERM after two seconds.

      Exit status:
        0    done
        1    the script failed; the message is on stderr
        64   wrong usage
        66   the script cannot be read
        67   the script was ended by an error of the sign-in, or the org or user is not known; or --sandbox-only and another org
        69   standard output cannot be used (--json)
        75   the script was ended by a sign-in that is limited for a while; try again later
        77   the script reached a limit; the message says which and where
        78   a configuration file is wrong; the message names file, line and key
        130  interrupted
      """)

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

  @Argument(help: "The Lua script.")
  var script: String

  @Argument(parsing: .captureForPassthrough, help: "Arguments of the script, in `arg` and `...`.")
  var arguments: [String] = []

  func run() throws {
    guard access(script, R_OK) == 0 else {
      complain("\(script): \(String(cString: strerror(errno)))")
      throw ExitCode(ExitStatus.scriptNotFound)
    }
    let display = SyncDisplay(style: json ? .json(try StandardOutput.setApart()) : quiet ? .none : .progress)
    let (host, sandbox) = try place.prepare(configDirectory: folder) {
      $0.isRestricted = limits.restricted
      $0.isOffline = offline
      $0.isSandboxOnly = sandboxOnly
    }
    let status = try sandboxOnlyStatus(host) ?? runScript(ObservedHost(host, display: display), host, display)
    sandbox.stop()
    guard status == 0 else { throw ExitCode(status) }
  }

  /// What the command ends with when the org must be a sandbox and is not; nil goes on.
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

  /// The folder of the script.
  private var folder: String { FileSystem.folder(of: script) }

  /// Runs the script on this thread; signals are watched on another.
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
    display.finish()
    state.close()
    overtime?.cancel()
    if interrupts.happened {
      if wasBrokenOff, case .failed(let message) = outcome { complain(message) }
      return ExitStatus.interrupted
    }
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

  /// What the command ends with after the first error that nothing caught.
  private static func status(after failure: ScriptState.Failure?) -> Int32 {
    failure.flatMap { ExitStatus.of(domain: $0.domain, code: $0.code, reason: $0.reason) } ?? ExitStatus.scriptFailed
  }
}

/// Writes an error to stderr, as an object where it is one of the bridge's.
func complain(_ error: any Error, asJSON: Bool) {
  guard asJSON, let text = ErrorText.json(of: error) else { return complain(ErrorText.of(error)) }
  write(text + "\n", to: STDERR_FILENO)
}

/// Writes a line to stderr, without what would command a terminal.
func complain(_ message: String) { write("tureen: \(TerminalText.escaped(message))\n", to: STDERR_FILENO) }

/// Writes text whole, past the buffers of the C library. Output without a reader is dropped.
func write(_ text: String, to descriptor: Int32) {
  let bytes = Array(text.utf8)
  var done = 0
  while done < bytes.count {
    let count = bytes[done...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { return }
    done += count
  }
}
