import LuaBridge
import Tureen

/// `tureen run --isolated`: the host stays in this process, the script gets one of its own.
extension RunCommand {
  /// Bytes of memory that the calls of an isolated script may take.
  private static let memoryOfCalls: UInt64 = 2 << 30

  /// Runs the script, with this thread between it and the host; signals are watched on another.
  func runIsolated(_ observed: ObservedHost, _ host: Host, _ display: SyncDisplay) -> Int32 {
    var settings = IsolatedScript.Settings()
    settings.limits = limits.values
    settings.hostMemory = Self.memoryOfCalls
    settings.allowsMissingFilter = limits.withoutSeccomp
    let isolated: IsolatedScript
    do {
      isolated = try IsolatedScript(host: observed, settings: settings)
    } catch {
      complain(error.message)
      return ExitStatus.scriptFailed
    }
    if offline { host.report(isOnline: false) }
    let interrupts = InterruptWatch {
      display.clear()
      host.stopSyncs()
      isolated.interrupt()
    }
    let suspensions = SuspensionWatch {
      host.pause()
      isolated.suspend()
      display.clear()
    } onContinue: {
      isolated.resume()
      host.resume()
    }
    defer { withExtendedLifetime(suspensions) {} }
    display.follow(isolated.bridge)
    let outcome = isolated.run(file: script, arguments: arguments)
    display.finish(reported: isolated.failure)
    if isolated.outputFailure != 0 { LostOutput.note(isolated.outputFailure) }
    let status = status(of: outcome, isolated, interrupts)
    if !isolated.close() {
      complain("a call of the script did not end within 5 seconds and is broken off; stores recover when they are opened again")
    }
    return interrupts.happened ? ExitStatus.interrupted : status
  }

  /// Says what there is to say about the end of the script, and gives what the command ends with.
  private func status(of outcome: IsolatedOutcome, _ isolated: IsolatedScript, _ interrupts: InterruptWatch) -> Int32 {
    switch outcome {
    case .script(.failed(let message)) where interrupts.happened:
      if isolated.wasBrokenOff { complain(message) }
      return ExitStatus.interrupted
    case .script(let ended): return interrupts.happened ? ExitStatus.interrupted : Self.status(of: ended, isolated.failure)
    case .workerEnded(let end):
      complain(end.message)
      return ExitStatus.workerEnded
    }
  }
}
