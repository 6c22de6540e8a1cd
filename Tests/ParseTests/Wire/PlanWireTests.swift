import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import Parse
@testable import RestClient

/// Plans of syncs up with a Parse server.
@Suite struct PlanWireTests {
  private static let scenarios = RandomSeed.count("SCENARIOS", usual: 3)

  private func sent(_ bench: ParseBench) -> [String] { bench.requests.map { "\($0.method) \($0.path) \($0.body)" } }

  private func lines(_ plan: SyncPlan) -> [String] {
    plan.requests.map { planned in
      let request = planned.request
      return
        "\(request.method.rawValue) /parse\(request.path.prefix { $0 != "?" }) \(String(decoding: request.body ?? [], as: UTF8.self))"
    }
  }

  private func change(_ bench: ParseBench, _ random: inout SeededGenerator, _ round: Int) throws {
    for entry in try bench.entries() where entry["__local__"] != true && Bool.random(using: &random) {
      let id = entry["objectId"]?.stringValue ?? ""
      switch Int.random(in: 0..<5, using: &random) {
      case 0: try bench.edit(id, ["pages": .null])
      case 1: try bench.edit(id, ["title": .string("renamed \(round)")])
      case 2: try bench.edit(id, ["title": .string(String(repeating: "x", count: 2_000))])
      case 3: try bench.edit(id, ["pages": .integer(Int64(round))])
      default: try bench.delete(id)
      }
    }
    for n in 0..<Int.random(in: 0..<3, using: &random) {
      try bench.make(["objectId": .string("local_\(round)_\(n)"), "title": .string("new \(round).\(n)")])
    }
  }

  @Test(arguments: [1, 50], ["OVERWRITE", "LEAVE_IF_CHANGED", "MERGE"])
  func row28_plan_isWhatTheRunSends(batch: Int, mode: String) async throws {
    try await ParseBench.with { bench in
      try await bench.create("Book", count: 6) { ["title": .string("Book \($0)"), "pages": .integer(Int64($0))] }
      let target: JSONObject = [
        "type": "parse", "className": "Book", "createFieldlist": ["title", "pages"], "updateFieldlist": ["title", "pages"],
        "maxBatchSize": .integer(Int64(batch)),
      ]
      try bench.manager.createSyncUp(
        target: target, options: ["mergeMode": .string(mode)], soupName: "books", syncName: "up")
      try await bench.down()
      for round in 0..<Self.scenarios {
        let seed = RandomSeed.value &+ UInt64(round)
        var random = SeededGenerator(state: seed)
        try change(bench, &random, round)
        bench.forgetRequests()
        let plan = try await bench.manager.planSync(.name("up"))
        #expect(bench.requests.isEmpty, "a plan asks nothing")
        let state = try await bench.manager.reSync(.name("up"))
        #expect(state.status == .done, "\(state.error)")
        #expect(lines(plan) == sent(bench), "\(RandomSeed.again(Self.self, seed: seed))")
        bench.clock.advance(by: 60)
        try await bench.again()
      }
    }
  }

  @Test func row30_references_nameTheRequestThatCreatesTheirRecord() async throws {
    try await ParseBench.with { bench in
      let target: JSONObject = [
        "type": "parse", "className": "Book", "createFieldlist": ["title", "next"], "updateFieldlist": ["title", "next"],
        "pointers": ["next": ["className": "Book", "soup": "books"]],
      ]
      try bench.manager.createSyncUp(target: target, options: ["mergeMode": "MERGE"], soupName: "books", syncName: "up")
      try bench.make(["objectId": "local_a", "title": "A"])
      try bench.make([
        "objectId": "local_b", "title": "B", "next": ["__type": "Pointer", "className": "Book", "objectId": "local_a"],
      ])
      let plan = try await bench.manager.planSync(.name("up")), sends = plan.requests.filter { $0.purpose == .send }
      #expect(sends.count == 2 && plan.items.map(\.request) == sends.map(\.number), "\(plan.items)")
      let body = String(decoding: sends[1].request.body ?? [], as: UTF8.self)
      #expect(body.contains("«id of request \(sends[0].number)»"), "\(body)")
    }
  }
}
