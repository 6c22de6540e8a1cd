import LuaBridge
import Tureen

/// `tureen run --isolated`: the host stays in this process, the script gets one of its own.
extension RunCommand {
  /// Runs the script, with this thread between it and the host; signals are watched on another.
  func runIsolated(_ observed: ObservedHost, _ host: Host, _ display: SyncDisplay) -> Int32 {
    var settings = IsolatedScript.Settings()
    settings.limits = limits.values
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
    display.finish()
    isolated.close()
    if interrupts.happened {
      if isolated.wasBrokenOff, case .script(.failed(let message)) = outcome { complain(message) }
      return ExitStatus.interrupted
    }
    switch outcome {
    case .script(let ended): return Self.status(of: ended, isolated.failure)
    case .workerEnded(let end):
      complain(end.message)
      return ExitStatus.workerEnded
    }
  }
}
