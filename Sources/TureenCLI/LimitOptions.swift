import ArgumentParser
import LuaBridge

/// What a script may use, as the command line says it.
struct LimitOptions: ParsableArguments {
  @Option(help: "Limit the script's memory: bytes, or a number with K, M or G.")
  var memoryLimit: ByteCount?

  @Option(help: "Limit the number of Lua instructions.")
  var instructionLimit: UInt64?

  @Option(help: "Limit the run time in seconds, waiting included, such as 30 or 0.5.")
  var timeLimit: SecondCount?

  @Flag(help: "Give the script no files, processes, loaders, debug library or tureen.configure.")
  var restricted = false

  var values: ScriptLimits {
    var limits = ScriptLimits()
    limits.memory = memoryLimit?.bytes
    limits.instructions = instructionLimit
    limits.timeMs = timeLimit.map { UInt64($0.seconds * 1000) }
    limits.isRestricted = restricted
    return limits
  }
}

/// A number of bytes such as `64M`.
struct ByteCount: ExpressibleByArgument {
  let bytes: UInt64

  init?(argument: String) {
    let factors: [Character: UInt64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
    let factor = argument.last.flatMap { factors[$0] }
    guard let number = UInt64(factor == nil ? argument[...] : argument.dropLast()) else { return nil }
    let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: factor ?? 1)
    guard !isTooLarge, bytes > 0 else { return nil }
    self.bytes = bytes
  }
}

/// A number of seconds, at most some thirty years.
struct SecondCount: ExpressibleByArgument {
  let seconds: Double

  init?(argument: String) {
    guard let seconds = Double(argument), seconds > 0, seconds <= 1e9 else { return nil }
    self.seconds = seconds
  }
}
