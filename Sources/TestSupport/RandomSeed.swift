import Glibc

/// The seed of the random tests: `TUREEN_SEED`, or a fixed value.
///
/// CI sets the variable to another value for each commit, so that each commit takes other walks. The
/// seed is printed once, and the failure of a walk says how to repeat it.
package enum RandomSeed {
  package static let value: UInt64 = {
    let seed = variable("SEED").flatMap { UInt64($0) } ?? 20_260
    print("TUREEN_SEED=\(seed)")
    return seed
  }()

  /// Returns how many walks to take.
  /// - Parameters:
  ///   - name: The variable that sets the number, without `TUREEN_`.
  ///   - usual: The number if the variable is not set.
  package static func count(_ name: String, usual: Int) -> Int {
    variable(name).flatMap { Int($0) } ?? usual
  }

  private static func variable(_ name: String) -> String? { getenv("TUREEN_" + name).map { String(cString: $0) } }

  // MARK: Repeating

  /// Returns the command that repeats a walk, for the comment of its expectations.
  /// - Parameters:
  ///   - suite: The suite of the walk.
  ///   - seed: The seed of this walk alone.
  ///   - counts: The numbers to set, without `TUREEN_`. One scenario if there are none.
  package static func again(
    _ suite: Any.Type, seed: UInt64 = RandomSeed.value, _ counts: KeyValuePairs<String, Int> = ["SCENARIOS": 1]
  ) -> String {
    var words = ["TUREEN_SEED=\(seed)"] + counts.map { "TUREEN_\($0.key)=\($0.value)" }
    if TestEngine.isPostgres { words.append("TUREEN_TEST_STORE=postgres") }
    let test = String(reflecting: suite).split(separator: ".").joined(separator: "/")
    return "seed \(seed), again: \(words.joined(separator: " ")) scripts/dev/test-one \(test)"
  }

  /// Takes a walk. An error that ends it says how to repeat the walk.
  /// - Parameter again: The text of ``again(_:seed:_:)``.
  package static func walk<Outcome>(_ again: String, _ steps: () async throws -> Outcome) async throws -> Outcome {
    do { return try await steps() } catch { throw WalkError(cause: error, again: again) }
  }

  /// Takes a walk on the calling thread.
  package static func walkBlocking<Outcome>(_ again: String, _ steps: () throws -> Outcome) throws -> Outcome {
    do { return try steps() } catch { throw WalkError(cause: error, again: again) }
  }

  /// The error that ended a walk.
  package struct WalkError: Error, CustomStringConvertible {
    package let cause: any Error
    package let again: String

    package var description: String { "\(cause)\n\(again)" }
  }
}

/// Which cases of a large table run.
package enum TestCases {
  /// Whether all cases run: with `TUREEN_CASES=all` in the environment, as `scripts/dev/nightly` sets
  /// it. Otherwise each such test runs the cases that its documentation names.
  package static let all = getenv("TUREEN_" + "CASES").map { String(cString: $0) } == "all"
}
