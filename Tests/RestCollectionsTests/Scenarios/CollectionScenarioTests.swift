import Foundation
import Testing

/// Changes on both sides of a collection and syncs in a random order, with a network and a server that fail in many ways, another
/// writer between requests, and a process that is killed at any of them. Once the faults stop, store and server are equal, no local
/// change was lost and nothing was created twice.
///
/// `TUREEN_SCENARIOS` asks for another number of each kind, `TUREEN_SEED` begins elsewhere; `scripts/dev/scenarios` sets both. Every
/// failure names the seed of its walk.
@Suite struct CollectionScenarioTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["TUREEN_SEED"].flatMap { UInt64($0) } ?? 20_260
  /// Of each kind: 150 in all. `.ci/run` walks a thousand.
  private static let scenarios = environment["TUREEN_SCENARIOS"].flatMap { UInt64($0) } ?? 10

  @Test(arguments: CollectionScenarioKind.all)
  func collections_withFaultsKillsAndAnotherWriter_endEqualAndLoseNothing(kind: CollectionScenarioKind) async throws {
    for n in 0..<Self.scenarios { try await CollectionScenario(kind, seed: Self.seed &+ n).run() }
  }
}
