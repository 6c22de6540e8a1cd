import LuaBridge

/// What a program around a host tells it of: that it goes into the background, that the network went.
extension Host {
  /// Says that the program is about to rest: listeners of `pause` run, then, when asked to, the syncs end.
  ///
  /// Syncs that are ended keep what they have and are STOPPED at their next page or batch; new ones are refused until
  /// ``resume()``. Those that are left alone go on, and a process that is suspended meanwhile loses nothing: what a sync has not
  /// stored is fetched again. Any thread that may wait.
  ///
  /// - Parameters:
  ///   - stoppingSyncs: Ends the syncs.
  ///   - timeoutMs: How long listeners are waited for: a script that does not poll hears of it later.
  /// - Returns: True when the listeners have run, or there are none.
  @discardableResult
  public func pause(stoppingSyncs: Bool = false, timeoutMs: Int = 1000) -> Bool {
    var wasHeard = true
    if let script = attachedScript {
      wasHeard = Blocking.run(timeoutMs: timeoutMs) { _ = try? await script.tellAndWait("pause") }
    }
    if stoppingSyncs { runningCore?.user.pauseSyncs() }
    return wasHeard
  }

  /// ``pause(stoppingSyncs:timeoutMs:)`` with the syncs, for programs whose listeners hear of it when they next poll.
  func pauseLater() {
    attachedScript?.tell("pause", about: "life")
    runningCore?.user.pauseSyncs()
  }

  /// Says that the program goes on: syncs are accepted, those that ``pause(stoppingSyncs:timeoutMs:)`` ended run again from where
  /// they were, with `sync` events, and listeners of `resume` run. Without a pause nothing happens.
  public func resume() {
    runningCore?.user.resumeSyncs()
    attachedScript?.tell("resume", about: "life")
  }

  /// Says whether there is a network, when the program knows: listeners of `offline` or `online` hear it when it is a change.
  /// Requests are tried either way.
  public func report(isOnline: Bool) {
    events.report(isOnline: isOnline)
    runningCore?.connections.report(isOnline: isOnline)
  }
}
