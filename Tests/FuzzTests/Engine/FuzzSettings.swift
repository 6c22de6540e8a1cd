import Glibc
import TestSupport

/// The settings of a fuzz run, which `scripts/dev/fuzz` passes in the environment.
struct FuzzSettings: Sendable {
  /// `TUREEN_FUZZ_SEED`: the seed of the random numbers; if it is not set, that of all random tests.
  var seed: UInt64 = 4_242
  /// `TUREEN_FUZZ_ROUNDS`: the rounds of each target.
  var rounds: Int?
  /// `TUREEN_FUZZ_TIMES`: a factor for each target's usual rounds; 60 take about a minute.
  var times = 1
  /// `TUREEN_FUZZ_SECONDS`: how long each target runs, instead of a number of rounds.
  var seconds: Double?
  /// `TUREEN_FUZZ_TARGET`: the only target to run.
  var target: String?
  /// `TUREEN_FUZZ_INPUT`: a file with the only input to run.
  var input: String?
  /// `TUREEN_FUZZ_KEEP`: a folder for inputs with new signals.
  var keep: String?
  /// `TUREEN_FUZZ_FAILED`: a folder for inputs that break a rule.
  var failed = "/tmp/tureen-fuzz"
  /// `TUREEN_FUZZ_LAST`: a file for the input that runs, which remains if the process ends.
  var last: String?

  static let environment = FuzzSettings { name in getenv("TUREEN_FUZZ_" + name).map { String(cString: $0) } }

  init() {}

  init(_ variable: (String) -> String?) {
    seed = variable("SEED").flatMap { UInt64($0) } ?? RandomSeed.value
    rounds = variable("ROUNDS").flatMap { Int($0) }
    times = variable("TIMES").flatMap { Int($0) } ?? times
    seconds = variable("SECONDS").flatMap { Double($0) }
    target = variable("TARGET")
    input = variable("INPUT")
    keep = variable("KEEP")
    failed = variable("FAILED") ?? failed
    last = variable("LAST")
  }

  /// Returns true if another round follows.
  func goesOn(_ round: Int, usual: Int, since start: ContinuousClock.Instant) -> Bool {
    if let seconds { return start.duration(to: .now) < .seconds(seconds) }
    return round < rounds ?? usual * times
  }
}
