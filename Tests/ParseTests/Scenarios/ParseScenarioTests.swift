import Foundation
import Testing

/// Runs changes on both sides of a library and syncs in a random order, with every kind of fault of
/// the Parse server, concurrent clients, and a process killed at any request. Once the faults stop,
/// store and server must be equal with all pointers and links, with no lost local change and no
/// duplicate create.
///
/// `TUREEN_SCENARIOS` sets the number of scenarios of each kind, `TUREEN_SEED` the first seed;
/// `scripts/dev/scenarios` sets both. Every failure reports the seed of its scenario.
@Suite struct ParseScenarioTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["TUREEN_SEED"].flatMap { UInt64($0) } ?? 20_260
  /// Scenarios of each kind; 90 in all. `.ci/run` runs a thousand.
  private static let scenarios = environment["TUREEN_SCENARIOS"].flatMap { UInt64($0) } ?? 10

  @Test(arguments: ParseScenarioKind.all)
  func classes_withFaultsKillsAndAnotherClient_endEqualAndLoseNothing(kind: ParseScenarioKind) async throws {
    for n in 0..<Self.scenarios { try await ParseScenario(kind, seed: Self.seed &+ n).run() }
  }
}
