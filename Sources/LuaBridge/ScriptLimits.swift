import CLuaBridge

/// Limits for hosts that run scripts they do not trust. A script that reaches a limit ends, even if it catches errors.
///
/// The limits are reliable only together with ``isRestricted``. Without it a script can load C modules, start processes, and
/// wait in a function of `io` or `os` that nothing interrupts. To end such a script, end the process, as `tureen run` does.
public struct ScriptLimits: Sendable, Equatable {
  public enum Kind: Int32, Sendable { case memory = 1, instructions, time }

  /// Bytes of Lua's allocator. Lua's libraries and the modules count; they need about 300 KB. Messages that wait in the host do
  /// not count. The default for restricted scripts is 256 MiB.
  public var memory: UInt64?
  /// Instructions of Lua's virtual machine, counted in steps of 1,000; creating a coroutine costs 1,000. The work of library
  /// functions counts as well: one instruction for 64 bytes created, 16 bytes read, one element, or one byte compiled. Other
  /// work is limited by the processor time of the script's thread: 0.5 us for each instruction of the limit, plus 0.25 s.
  public var instructions: UInt64?
  /// Milliseconds since the start of the state's first script, including waits.
  public var timeMs: UInt64?
  /// Whether the script runs without `io`, `debug`, `package`, `dofile`, `loadfile`, `string.dump`, binary chunks and
  /// `tureen.configure`, with only `clock`, `date`, `difftime` and `time` of `os`, and with a `require` that finds only Tureen's
  /// modules.
  public var isRestricted = false

  public init() {}

  /// Whether any limit is set.
  public var isLimited: Bool { self != ScriptLimits() }

  /// The limits for C. There, 0 means no limit, so a limit of 0 becomes 1, which is reached immediately as well.
  var table: tureen_limits {
    func number(_ limit: UInt64?) -> UInt64 { limit.map { max(1, $0) } ?? 0 }
    return tureen_limits(
      memory_bytes: number(memory), instructions: number(instructions), time_ms: number(timeMs),
      is_restricted: isRestricted ? 1 : 0)
  }
}
