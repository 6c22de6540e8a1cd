import CLuaBridge

/// Interrupts Lua code that does not return to the host, for programs that own their process.
extension ScriptState {
  /// Makes this the state that ``breakOff()`` interrupts. Call it on the state's thread before scripts run, for one state of the
  /// process.
  ///
  /// Installs a handler of SIGURG to reach the state's thread in the middle of a loop.
  /// - Returns: False if there is such a state already, or no memory.
  @discardableResult
  public func becomeBreakable() -> Bool { openState.map { tureen_break_watch($0) == 1 } ?? false }

  /// Ends Lua code that from now on runs for half a second without returning to the host, even if it catches errors. `run` then
  /// returns `.failed` with the traceback. Code that returns to the host ends as after ``Bridge/interrupt()``. Callable from any
  /// thread.
  public static func breakOff() { tureen_break_ask() }

  /// Makes the breakable state check its limits before its next instruction, for work that is not counted in instructions. Only
  /// for a state with limits. Callable from any thread.
  /// - Returns: Processor time in milliseconds that the current function or instruction has used since an earlier check.
  @discardableResult
  public static func checkLimits() -> Int64 {
    tureen_break_nudge()
    return tureen_break_stuck_ms()
  }

  /// Whether ``breakOff()`` ended the last run in this state. False once the state is closed.
  public var wasBrokenOff: Bool { openState.map { tureen_break_happened($0) == 1 } ?? false }
}
