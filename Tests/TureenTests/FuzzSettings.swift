import Glibc

/// What `scripts/dev/fuzz` and the long checks ask of the fuzz tests, by environment.
enum FuzzSettings {
  /// `TUREEN_FUZZ_SEED`: where the random numbers begin.
  static let seed = text("TUREEN_FUZZ_SEED").flatMap { UInt64($0) } ?? 4_242

  private static let rounds = text("TUREEN_FUZZ_ROUNDS").flatMap { Int($0) }
  private static let seconds = text("TUREEN_FUZZ_SECONDS").flatMap { Double($0) }

  static func text(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// Whether there is another round: as many as usual, as `TUREEN_FUZZ_ROUNDS` says, or as fit into `TUREEN_FUZZ_SECONDS`.
  /// - Parameter share: Of so many fuzzers that share the seconds, one.
  static func goesOn(_ round: Int, usual: Int, since start: ContinuousClock.Instant, share: Int = 1) -> Bool {
    if let seconds { return start.duration(to: .now) < .seconds(seconds / Double(share)) }
    return round < rounds ?? usual
  }
}
