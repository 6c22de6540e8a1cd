import LuaBridge

/// Notifications from the embedding program: it goes into the background, or the network changes.
extension Host {
  /// Notifies the host that the program is about to be suspended: runs the listeners of `pause` and then optionally stops the
  /// syncs.
  ///
  /// Stopped syncs keep the stored records and become STOPPED at their next page or batch; new ones are refused until
  /// ``resume()``. If the syncs are not stopped, suspending the process is still safe: pages that are not stored yet are fetched
  /// again. Call it on any thread that may block.
  ///
  /// - Parameters:
  ///   - stoppingSyncs: True to stop the syncs.
  ///   - timeoutMs: The longest wait for the listeners. A script that does not poll in this time gets the event later.
  /// - Returns: True if the listeners have run or there are none.
  @discardableResult
  public func pause(stoppingSyncs: Bool = false, timeoutMs: Int = 1000) -> Bool {
    var wasHeard = true
    if let script = attachedScript {
      wasHeard = Blocking.run(timeoutMs: timeoutMs) { _ = try? await script.deliverAndWait("pause") }
    }
    if stoppingSyncs { runningCore?.user.pauseSyncs() }
    return wasHeard
  }

  /// Pauses the syncs without waiting for listeners, which get the event at the next poll.
  func pauseLater() {
    attachedScript?.deliver("pause", subject: "life")
    runningCore?.user.pauseSyncs()
  }

  /// Notifies the host that the program continues: syncs are accepted again, those that ``pause(stoppingSyncs:timeoutMs:)``
  /// stopped continue and send `sync` events, and the listeners of `resume` run.
  public func resume() {
    runningCore?.user.resumeSyncs()
    attachedScript?.deliver("resume", subject: "life")
  }

  /// Reports whether there is a network connection. A change runs the listeners of `offline` or `online`. Requests are sent in
  /// either state.
  public func report(isOnline: Bool) {
    events.report(isOnline: isOnline)
    runningCore?.connections.report(isOnline: isOnline)
  }
}
