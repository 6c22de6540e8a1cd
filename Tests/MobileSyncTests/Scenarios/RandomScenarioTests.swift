import Foundation
import JSON
import SandboxOrg
import TestSupport
import Testing

@testable import MobileSync

/// Changes on both sides and syncs in a random order, with a network and a server that fail in
/// every way the sandbox knows. Once the faults stop and the syncs run again, store and server are
/// equal for the sync's filter, no local change was lost, and nothing was created twice.
///
/// `TUREEN_SCENARIOS` sets the number of scenarios of each kind, `TUREEN_SEED` the first seed;
/// `scripts/dev/scenarios` sets both. Every failure says how to repeat its scenario alone.
@Suite struct RandomScenarioTests {
  /// The number for each kind: 135 in all. `.ci/run` uses more.
  private static let scenarios = RandomSeed.count("SCENARIOS", usual: 5)

  /// Runs scenarios one after the other. With the same seed a scenario takes the same steps, in a
  /// fresh org.
  private func run(_ count: Int, _ kind: ScenarioKind, _ scenario: (Scenario) async throws -> Void) async throws {
    let world = try await ScenarioWorld(kind)
    for n in 0..<count {
      let seed = RandomSeed.value &+ UInt64(n)
      let label = "\(kind.testDescription), \(RandomSeed.again(Self.self, seed: seed))"
      try await RandomSeed.walk(label) { try await scenario(Scenario(world, seed: seed, label: label)) }
    }
    await world.close()
  }

  @Test(arguments: ScenarioKind.all)
  func scenarios_withFaults_endEqualAndLoseNothing(kind: ScenarioKind) async throws {
    try await run(Self.scenarios, kind) { try await $0.run() }
  }

  /// Without custom targets that compare dates alone: these cannot tell their own update whose answer was lost from another's.
  @Test(arguments: ScenarioKind.all.filter { $0.up != nil && $0.up != "custom" })
  func scenarios_ofOneClientWithFaults_haveNoConflict(kind: ScenarioKind) async throws {
    try await run(max(1, Self.scenarios / 3), kind) { try await $0.runAlone() }
  }

  /// Each fault by itself; none is left to chance.
  @Test(arguments: ScenarioKind.oneOfEach)
  func everyFault_inEveryKindOfRun_endsEqualAndLosesNothing(kind: ScenarioKind) async throws {
    let world = try await ScenarioWorld(kind)
    for fault in ScenarioFaults.kinds(world.org) {
      let label = "\(kind.testDescription), \(fault.kind), \(RandomSeed.again(Self.self))"
      try await RandomSeed.walk(label) {
        try await Scenario(world, seed: RandomSeed.value, label: label).run(through: fault)
      }
    }
    await world.close()
  }

  /// A server that corrupts bytes of its answers cannot be distinguished from one that sends other
  /// data, so the data may be stored. But every sync ends, and local changes stay until the server
  /// has them.
  @Test(arguments: ScenarioKind.all.filter { $0.up != nil })
  func scenarios_withDamagedAnswers_endAndKeepLocalChanges(kind: ScenarioKind) async throws {
    try await run(max(1, Self.scenarios / 12), kind) { try await $0.runDamaged() }
  }
}

/// The source of records and the way back.
struct ScenarioKind: Sendable, CustomTestStringConvertible {
  enum Down: String, CaseIterable { case soql, sosl, mru, refresh, briefcase, custom, parent_children, layout, metadata }

  let down: Down
  /// The type of the sync up target; nil for records that cannot be changed here.
  let up: String?

  var testDescription: String { "\(down) \(up ?? "only")" }

  /// Every target, down and up, at least once.
  static let oneOfEach: [ScenarioKind] = all.filter { kind in
    switch kind.down {
    case .soql, .refresh: kind.up == "collection"
    case .sosl, .briefcase: kind.up == "batch"
    case .mru: kind.up == "plain"
    case .custom: kind.up == "custom"
    case .parent_children, .layout, .metadata: true
    }
  }

  static let all: [ScenarioKind] = Down.allCases.flatMap { down -> [ScenarioKind] in
    switch down {
    case .layout, .metadata: [ScenarioKind(down: down, up: nil)]
    case .parent_children: [ScenarioKind(down: down, up: "parent_children")]
    default: (UploadKind.allCases.map(\.rawValue) + ["custom"]).map { ScenarioKind(down: down, up: $0) }
    }
  }
}
