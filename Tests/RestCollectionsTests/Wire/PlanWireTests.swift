import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestClient
@testable import RestCollections

/// Plans of syncs up with a collection over REST.
@Suite struct PlanWireTests {
  private static let scenarios = RandomSeed.count("SCENARIOS", usual: 3)

  /// The ways in which a collection is written to.
  enum Kind: String, CaseIterable, Sendable {
    case checked, conditional, blind, everything

    var up: JSONObject {
      switch self {
      case .checked: [:]
      case .conditional: ["precondition": "ifUnmodifiedSince"]
      case .blind: ["read": .null, "precondition": "none"]
      case .everything: ["create": ["url": "/items", "fields": "*"], "update": ["url": "/items/{id}", "fields": "*"]]
      }
    }
  }

  private func lines(_ bench: CollectionBench) -> [String] {
    bench.server.requests.map { "\($0.method) \($0.target) \($0.text)" }
  }

  private func lines(_ plan: SyncPlan, _ bench: CollectionBench) -> [String] {
    plan.requests.map { planned in
      let request = planned.request, path = request.path
      let target = path.hasPrefix(bench.server.url) ? String(path.dropFirst(bench.server.url.utf8.count)) : path
      return "\(request.method.rawValue) \(target) \(String(decoding: request.body ?? [], as: UTF8.self))"
    }
  }

  private func isWrite(_ line: String) -> Bool { !line.hasPrefix("GET ") }

  private func change(_ bench: CollectionBench, _ random: inout SeededGenerator, _ round: Int) throws {
    for entry in try bench.entries() where entry["__local__"] != true && Bool.random(using: &random) {
      guard let id = Int(entry.id) else { continue }
      switch Int.random(in: 0..<5, using: &random) {
      case 0: try bench.edit(id, ["description": .null])
      case 1: try bench.edit(id, ["name": .string("renamed \(round)")])
      case 2: try bench.edit(id, ["name": .string("n \(round)"), "description": .string(String(repeating: "x", count: 10_000))])
      case 3: try bench.edit(id, ["description": .string("d \(round)")])
      default: try bench.delete(id)
      }
    }
    for n in 0..<Int.random(in: 0..<3, using: &random) {
      try bench.make("local_\(round)_\(n)", ["name": .string("new \(round).\(n)")])
    }
  }

  @Test(arguments: Kind.allCases, ["OVERWRITE", "LEAVE_IF_CHANGED", "MERGE"])
  func row28_plan_isWhatTheRunSends(kind: Kind, mode: String) async throws {
    try await CollectionBench.with(rows: 6) { bench in
      var up = CollectionBench.plainUp.replacing(with: kind.up)
      if kind.up["read"] != nil { up["read"] = nil }
      let target = CollectionBench.target(["modificationDateField": "updated_at", "up": .object(up)])
      try bench.manager.createSyncUp(
        target: target, options: ["mergeMode": .string(mode)], soupName: CollectionBench.soup, syncName: "up")
      bench.server.with { $0.takesWrites = true }
      try await bench.down(["modificationDateField": "updated_at"])
      for round in 0..<Self.scenarios {
        let seed = RandomSeed.value &+ UInt64(round)
        var random = SeededGenerator(state: seed)
        try change(bench, &random, round)
        let before = bench.server.requests.count
        let plan = try await bench.manager.planSync(.name("up"))
        #expect(bench.server.requests.count == before, "a plan asks nothing")
        let state = try await bench.manager.reSync(.name("up"))
        #expect(state.status == .done, "\(state.error)")
        let sent = Array(lines(bench).dropFirst(before)), planned = lines(plan, bench)
        let again: Comment = "\(RandomSeed.again(Self.self, seed: seed))"
        #expect(planned.filter(isWrite).sorted() == sent.filter(isWrite).sorted(), again)
        // A tag that is read before a write over other changes is not planned.
        if mode != "OVERWRITE" {
          #expect(planned.filter { !isWrite($0) }.sorted() == sent.filter { !isWrite($0) }.sorted(), again)
        }
        try await bench.again()
      }
    }
  }

  @Test func row31_lookedPlan_hasTheVerdictsOfTheRun() async throws {
    try await CollectionBench.with(rows: 4) { bench in
      try bench.manager.createSyncUp(
        target: CollectionBench.upTarget(), options: ["mergeMode": "MERGE"], soupName: CollectionBench.soup, syncName: "up")
      bench.server.with { $0.takesWrites = true }
      try await bench.down(["modificationDateField": "updated_at"])
      try bench.edit(1, ["name": "mine"])
      try bench.edit(2, ["name": "mine"])
      try bench.edit(3, ["name": "mine"])
      bench.server.with { state in
        state.rows[0]["name"] = "theirs"
        state.rows[1]["description"] = "theirs"
      }
      let quiet = try await bench.manager.planSync(.name("up"))
      #expect(quiet.items.map(\.expect) == [.send, .send, .send])
      let plan = try await bench.manager.planSync(.name("up"), asksServer: true)
      #expect(plan.looked && plan.items.map(\.expect) == [.conflict, .merge, .send], "\(plan.items.map(\.expect))")
      _ = try await bench.manager.reSync(.name("up"))
      #expect(try bench.manager.conflicts().map(\.entryId) == plan.items.filter { $0.expect == .conflict }.map(\.entryId))
    }
  }

  @Test func row32_blocked_eachSaysWhy_andTheOthersGo() async throws {
    try await CollectionBench.with(rows: 3) { bench in
      var up = CollectionBench.plainUp
      up["delete"] = nil
      let target = CollectionBench.target(["modificationDateField": "updated_at", "up": .object(up)])
      try bench.manager.createSyncUp(
        target: target, options: ["mergeMode": "LEAVE_IF_CHANGED"], soupName: CollectionBench.soup, syncName: "up")
      try await bench.down(["modificationDateField": "updated_at"])
      try bench.delete(1)
      try bench.edit(2, ["name": "goes"])
      try bench.edit(3, ["stranger": "x"])
      let plan = try await bench.manager.planSync(.name("up"))
      let found = plan.items.map { "\($0.entryId) \($0.expect) \($0.why.map(\.code.rawValue))" }.sorted()
      #expect(found == ["1 blocked [\"readOnly\"]", "2 send []", "3 skip [\"fieldNotListed\"]"], "\(found)")
    }
  }
}
