import TestSupport
import Testing

/// Runs changes on both sides of a collection and syncs in a random order, with many kinds of
/// network and server faults, concurrent writers, and a process killed at any point. Once the
/// faults stop, store and server must be equal, with no lost local change and no duplicate create.
///
/// `TUREEN_SCENARIOS` sets the number of scenarios of each kind, `TUREEN_SEED` the first seed;
/// `scripts/dev/scenarios` sets both. Every failure says how to repeat its scenario alone.
@Suite struct CollectionScenarioTests {
  /// Scenarios of each kind, and a third of it with one client; 60 in all. `.ci/run` runs more.
  private static let scenarios = RandomSeed.count("SCENARIOS", usual: 3)

  @Test(arguments: CollectionScenarioKind.all)
  func collections_withFaultsKillsAndAnotherWriter_endEqualAndLoseNothing(kind: CollectionScenarioKind) async throws {
    try await walk(kind, isAlone: false)
  }

  @Test(arguments: CollectionScenarioKind.all)
  func collections_ofOneClientWithFaultsAndKills_haveNoConflict(kind: CollectionScenarioKind) async throws {
    try await walk(kind, isAlone: true)
  }

  private func walk(_ kind: CollectionScenarioKind, isAlone: Bool) async throws {
    for n in 0..<(isAlone ? max(1, Self.scenarios / 3) : Self.scenarios) {
      let seed = RandomSeed.value &+ UInt64(n), again = RandomSeed.again(Self.self, seed: seed)
      try await RandomSeed.walk("\(kind.testDescription), \(again)") {
        try await CollectionScenario(kind, isAlone: isAlone, seed: seed, again: again).run()
      }
    }
  }
}
