import CLuaBridge

/// Breaking off Lua code that does not come back to the host, for programs that own their process.
extension ScriptState {
  /// Makes this the state that ``breakOff()`` ends. On its thread, before scripts run; one state of a process.
  ///
  /// Installs a handler of SIGURG, by which the state's thread is reached in the middle of a loop.
  /// - Returns: False when there is such a state already, or no memory.
  @discardableResult
  public func becomeBreakable() -> Bool { openState.map { tureen_break_watch($0) == 1 } ?? false }

  /// From now on Lua code that goes on for half a second without coming back to the host is ended, whatever it catches; `run`
  /// then returns `.failed` with the traceback. Code that does come back ends as after ``Bridge/interrupt()``. Any thread.
  public static func breakOff() { tureen_break_ask() }

  /// Has the limits of the state that is breakable looked at before its next instruction, for work that no instruction counts.
  /// Only when it was made with limits. Any thread.
  /// - Returns: Milliseconds of processor time that one function or instruction takes so far since an earlier look.
  @discardableResult
  public static func lookAtLimits() -> Int64 {
    tureen_break_nudge()
    return tureen_break_stuck_ms()
  }

  /// Whether that ended what ran last in this state. False once it is closed.
  public var wasBrokenOff: Bool { openState.map { tureen_break_happened($0) == 1 } ?? false }
}
