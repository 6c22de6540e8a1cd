import TestSupport
import Testing

/// Runs changes on both sides of a library and syncs in a random order, with every kind of fault of
/// the Parse server, concurrent clients, and a process killed at any request. Once the faults stop,
/// store and server must be equal with all pointers and links, with no lost local change and no
/// duplicate create.
///
/// `TUREEN_SCENARIOS` sets the number of scenarios of each kind, `TUREEN_SEED` the first seed;
/// `scripts/dev/scenarios` sets both. Every failure says how to repeat its scenario alone.
@Suite struct ParseScenarioTests {
  /// Scenarios of each kind, and a third of it with one client; 36 in all. `.ci/run` runs more.
  private static let scenarios = RandomSeed.count("SCENARIOS", usual: 3)

  @Test(arguments: ParseScenarioKind.all)
  func classes_withFaultsKillsAndAnotherClient_endEqualAndLoseNothing(kind: ParseScenarioKind) async throws {
    try await walk(kind, isAlone: false)
  }

  @Test(arguments: ParseScenarioKind.all)
  func classes_ofOneClientWithFaultsAndKills_haveNoConflict(kind: ParseScenarioKind) async throws {
    try await walk(kind, isAlone: true)
  }

  private func walk(_ kind: ParseScenarioKind, isAlone: Bool) async throws {
    for n in 0..<(isAlone ? max(1, Self.scenarios / 3) : Self.scenarios) {
      let seed = RandomSeed.value &+ UInt64(n), again = RandomSeed.again(Self.self, seed: seed)
      try await RandomSeed.walk("\(kind.testDescription), \(again)") {
        try await ParseScenario(kind, isAlone: isAlone, seed: seed, again: again).run()
      }
    }
  }
}
