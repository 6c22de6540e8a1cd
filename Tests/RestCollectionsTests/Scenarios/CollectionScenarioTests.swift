import Foundation
import Testing

/// Runs changes on both sides of a collection and syncs in a random order, with many kinds of
/// network and server faults, concurrent writers, and a process killed at any point. Once the
/// faults stop, store and server must be equal, with no lost local change and no duplicate create.
///
/// `TUREEN_SCENARIOS` sets the number of scenarios of each kind, `TUREEN_SEED` the first seed;
/// `scripts/dev/scenarios` sets both. Every failure reports the seed of its scenario.
@Suite struct CollectionScenarioTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["TUREEN_SEED"].flatMap { UInt64($0) } ?? 20_260
  /// Scenarios of each kind; 150 in all. `.ci/run` runs a thousand.
  private static let scenarios = environment["TUREEN_SCENARIOS"].flatMap { UInt64($0) } ?? 10

  @Test(arguments: CollectionScenarioKind.all)
  func collections_withFaultsKillsAndAnotherWriter_endEqualAndLoseNothing(kind: CollectionScenarioKind) async throws {
    for n in 0..<Self.scenarios { try await CollectionScenario(kind, seed: Self.seed &+ n).run() }
  }
}
