import CLuaBridge

/// What a script may use, for hosts that run scripts of others. A script that reaches a limit ends, even if it catches errors.
///
/// The limits are firm together with ``isRestricted``: without it a script can load C modules, start processes, and wait in a
/// function of `io` or `os` that nothing interrupts. To end such a script, end the process, as `tureen run` does.
public struct ScriptLimits: Sendable, Equatable {
  public enum Kind: Int32, Sendable { case memory = 1, instructions, time }

  /// Bytes of Lua's allocator, Lua's libraries and the modules included: some 300 KB. What waits in the host is not counted. A
  /// restricted script without it has 256 MiB.
  public var memory: UInt64?
  /// Instructions of Lua's virtual machine, counted in steps of 1,000; a coroutine costs 1,000 from the start. What library
  /// functions do counts as instructions, too: 64 bytes that are made, 16 that are walked, one element, or one byte that is
  /// compiled. The rest is bounded by the processor time of the script's thread: 0.5 us for each instruction of the
  /// limit, and 0.25 s.
  public var instructions: UInt64?
  /// Milliseconds from the first script of the state on, waiting included.
  public var timeMs: UInt64?
  /// No `io`, `debug`, `package`, `dofile`, `loadfile`, `string.dump` or binary chunks; of `os` only `clock`, `date`, `difftime`
  /// and `time`; `require` finds Tureen's modules alone; no `tureen.configure`.
  public var isRestricted = false

  public init() {}

  /// Whether there is any.
  public var isLimited: Bool { self != ScriptLimits() }

  /// 0 stands for no limit there, so that a limit of 0 becomes 1: it is reached at once all the same.
  var table: tureen_limits {
    func number(_ limit: UInt64?) -> UInt64 { limit.map { max(1, $0) } ?? 0 }
    return tureen_limits(
      memory_bytes: number(memory), instructions: number(instructions), time_ms: number(timeMs),
      is_restricted: isRestricted ? 1 : 0)
  }
}
