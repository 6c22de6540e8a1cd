import Foundation
import TestSupport
import Testing

@testable import MobileSync

/// Two clients of one org, as two processes on one store or as two devices, with all hazards: stale
/// copies, writes between a request and its answer, deletions on both sides, other users in the
/// same second, wrong clocks, late commits, lost answers. Once these stop and the syncs run again,
/// all sides have the same records, each of them once, and no local change is lost without a
/// conflict.
///
/// `TUREEN_SCENARIOS` sets the number of scenarios of each kind, `TUREEN_SEED` the first seed,
/// `TUREEN_HAZARDS` the hazards (`staleCopies,clocks`); `scripts/dev/scenarios` sets the first two.
/// A failure says how to repeat its scenario alone, and has the fewest steps that show it.
@Suite struct ClientScenarioTests {
  private static let environment = ProcessInfo.processInfo.environment
  /// The number for each kind: about 125 in all. `.ci/run` uses more.
  private static let scenarios = RandomSeed.count("SCENARIOS", usual: 125 / ClientScenarioKind.all.count)

  @Test(arguments: ClientScenarioKind.all)
  func clients_withHazards_endEqualAndLoseNothing(kind: ClientScenarioKind) async throws {
    let world = try ClientWorld(kind.layout)
    for n in 0..<Self.scenarios {
      let seed = RandomSeed.value &+ UInt64(n), again = RandomSeed.again(Self.self, seed: seed)
      let script = ClientScript(layout: kind.layout, hazards: kind.hazards, seed: seed)
      let found: ScriptShrinker.Found? = try await RandomSeed.walk("\(kind.testDescription), \(again)") {
        try await ClientScenario(world, script).run().isEmpty ? nil : ScriptShrinker(world).shortest(script)
      }
      guard let found else { continue }
      try report(found, kind, again)
      break
    }
    await world.close()
  }

  private func report(_ found: ScriptShrinker.Found, _ kind: ClientScenarioKind, _ again: String) throws {
    let text = found.text(title: "\(kind.testDescription), \(again)")
    if let folder = Self.environment["TUREEN_FINDINGS"] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(kind.fileName)-\(found.script.seed).md"))
    }
    Issue.record(Comment(rawValue: text))
  }
}

/// A layout and its hazards.
struct ClientScenarioKind: Sendable, CustomTestStringConvertible {
  let layout: ClientLayout
  let hazards: Set<ClientHazard>

  var testDescription: String {
    "\(layout.rawValue), " + (hazards.isEmpty ? "nothing special" : hazards.map(\.rawValue).sorted().joined(separator: " "))
  }

  var fileName: String { testDescription.split(separator: " ").joined(separator: "-").filter { $0 != "," } }

  /// The requested hazards, or all.
  private static let wanted: [ClientHazard] = {
    let names = ProcessInfo.processInfo.environment["TUREEN_HAZARDS"]?.split(separator: ",").map(String.init)
    return names.map { $0.compactMap(ClientHazard.init(rawValue:)) } ?? ClientHazard.allCases
  }()

  /// In each layout, each hazard by itself, and all of them at once.
  static let all: [ClientScenarioKind] = ClientLayout.allCases.flatMap { layout in
    (wanted.map { [$0] } + [wanted]).map { ClientScenarioKind(layout: layout, hazards: Set($0)) }
  }
}
