import ArgumentParser
import JSON
import LuaBridge
import RestClient
import Support

/// The limits of a script on the command line.
struct LimitOptions: ParsableArguments {
  @Option(help: "Limit the script's memory: bytes, or a number with K, M or G.")
  var memoryLimit: ByteCount?

  @Option(help: "Limit the number of Lua instructions.")
  var instructionLimit: UInt64?

  @Option(help: "Limit the run time in seconds, waiting included, such as 30 or 0.5.")
  var timeLimit: SecondCount?

  @Flag(help: "Give the script no files, processes, loaders, debug library or tureen.configure.")
  var restricted = false

  @Option(
    help: """
      With --restricted or --isolated, a host that the script may reach besides the org, such as api.example.com or \
      localhost:8080. May be given several times.
      """)
  var allowHost: [String] = []

  @Option(
    help: """
      With --restricted or --isolated, a service that the script may use completely, such as com.salesforce.oauth. May be given \
      several times.
      """,
    completion: .list(LimitOptions.knownServices))
  var allowService: [String] = []

  /// The services that can be allowed. The only plug-ins of `tureen run` are the script's own, which it may always call.
  private static let knownServices = ActionCatalog.services + [EmbeddedSandbox.service]

  @Flag(
    help: """
      Run the script in a process of its own that can only call Tureen: no files, no network, no system calls beyond those that \
      Lua needs. Includes --restricted.
      """)
  var isolated = false

  @Flag(help: "With --isolated: run the script also where the system cannot filter system calls.")
  var withoutSeccomp = false

  /// Whether the script gets neither secrets nor settings of its own.
  var isRestricted: Bool { restricted || isolated }

  func validate() throws {
    if withoutSeccomp, !isolated { throw ValidationError("--without-seccomp goes with --isolated") }
    for (option, values) in [("--allow-host", allowHost), ("--allow-service", allowService)] where !isRestricted {
      guard let value = values.first else { continue }
      throw ValidationError("\(option) \(value) goes with --restricted or --isolated: any other script may use everything")
    }
    do {
      _ = try ReachableHosts(allowHost)
    } catch {
      throw ValidationError("--allow-host: \(error)")
    }
    guard let unknown = allowService.first(where: { !Self.knownServices.contains($0) }) else { return }
    let hint = NearestName.hint(for: unknown, among: Self.knownServices)
    throw ValidationError("--allow-service: unknown service '\(unknown)'\(hint)")
  }

  var values: ScriptLimits {
    var limits = ScriptLimits()
    limits.memory = memoryLimit?.bytes
    limits.instructions = instructionLimit
    limits.timeMs = timeLimit.map { UInt64(saturating: $0.seconds * 1000) }
    limits.isRestricted = isRestricted
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
