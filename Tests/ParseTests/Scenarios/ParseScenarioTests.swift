import Foundation
import Testing

/// Changes on both sides of a library and syncs in a random order, with every kind of fault of the Parse server, another client
/// between them, and a process that is killed at any request. Once the faults stop, store and server are equal with all pointers and
/// links, no local change was lost and nothing was created twice.
///
/// `TUREEN_SCENARIOS` asks for another number of each kind, `TUREEN_SEED` begins elsewhere; `scripts/dev/scenarios` sets both. Every
/// failure names the seed of its walk.
@Suite struct ParseScenarioTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["TUREEN_SEED"].flatMap { UInt64($0) } ?? 20_260
  /// Of each kind: 90 in all. `.ci/run` walks a thousand.
  private static let scenarios = environment["TUREEN_SCENARIOS"].flatMap { UInt64($0) } ?? 10

  @Test(arguments: ParseScenarioKind.all)
  func classes_withFaultsKillsAndAnotherClient_endEqualAndLoseNothing(kind: ParseScenarioKind) async throws {
    for n in 0..<Self.scenarios { try await ParseScenario(kind, seed: Self.seed &+ n).run() }
  }
}
