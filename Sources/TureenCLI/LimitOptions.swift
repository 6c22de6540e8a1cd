import ArgumentParser
import LuaBridge

/// What a script may use, as the command line says it.
struct LimitOptions: ParsableArguments {
  @Option(help: "Memory of the script in bytes, or with K, M or G behind the number.")
  var memoryLimit: ByteCount?

  @Option(help: "Instructions of Lua the script may run.")
  var instructionLimit: UInt64?

  @Option(help: "Seconds the script may take, waiting included, such as 30 or 0.5.")
  var timeLimit: SecondCount?

  @Flag(help: "No files, processes, loaders, debug library or tureen.configure for the script.")
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
