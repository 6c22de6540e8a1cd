import JSON
import SmartStore
import TestSupport
import Testing

/// Edits by `patch` on both engines: every result, error, base and observed change must be the same.
@Suite(.enabled(if: PostgresCluster.isInstalled, PostgresCluster.need), .ownThreads) struct EditTests {
  private static let updated = "\"flags\":{\"__locally_updated__\":true}"
  private static let parts = [
    "\"set\":{\"name\":\"Zoë\",\"n\":7}", "\"set\":{\"n\":9007199254740993}", "\"unset\":[\"name\",\"other\"]", updated,
    "\"flags\":{\"__locally_updated__\":false}", "\"flags\":{}", "\"ifClean\":true,\"set\":{\"f\":2.5}",
    "\"operations\":{\"n\":{\"__op\":\"Increment\",\"amount\":3}}", "\"operations\":{\"j.0\":{\"__op\":\"Set\",\"value\":1}}",
    "\"operations\":{\"o.k\":{\"__op\":\"Set\",\"value\":\"x\"}}", "\"confirmed\":{\"name\":\"sent\"},\"sentVersion\":2",
    "\"copy\":{\"Id\":\"x1\",\"name\":\"copied\",\"_soupLastModifiedDate\":1}", "\"copy\":{\"name\":\"given\"}",
    "\"ifVersion\":1,\"set\":{\"n\":1}",
  ]

  private static func patches(_ random: inout SeededGenerator) -> String {
    let patches = (0..<Int.random(in: 1...4, using: &random)).map { _ in
      let number = Int.random(in: 0...9, using: &random), part = parts.randomElement(using: &random) ?? updated
      switch Int.random(in: 0..<4, using: &random) {
      case 0: return "{\"entryId\":\(number),\"ifExists\":true,\(part)}"
      case 1: return "{\"externalId\":\"x\(number)\",\"ifExists\":true,\(part)}"
      case 2: return "{\"externalId\":\"x\(number)\",\(part),\"create\":{\"name\":\"new\",\"__locally_created__\":true}}"
      default: return "{\"externalId\":\"x\(number)\",\(part)}"
      }
    }
    return "[\(patches.joined(separator: ","))]"
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func patches_atRandom_giveTheSameOnBothEngines(seed: UInt64) throws {
    let stores = try TwoStores()
    defer { stores.close() }
    var random = SeededGenerator(state: seed)
    stores.compare("register") { try $0.register("a") }
    try stores.observe(["a"])
    for step in 0..<150 {
      let text = Self.patches(&random)
      let isSame = stores.compare("step \(step): \(text)") { caller in
        let json = try JSONValue(parsing: Array(text.utf8)).arrayValue ?? []
        let patches = try json.enumerated().map { i, one in try EntryPatch(one.objectValue ?? [:], position: i) }
        return caller.text(try caller.store.patch(patches, in: "a").text)
      }
      let ids = Array(Int64(1)...30)
      let isKept = stores.compare("bases after step \(step): \(text)") { caller in
        try caller.read { snapshot in
          try snapshot.bases(of: ids, in: "a").sorted { $0.key < $1.key }.map { "\($0.key) \(caller.text($0.value))" }
            .joined(separator: "\n")
        }
      }
      guard isSame, isKept, stores.compareChanges("step \(step): \(text)") else { return }
    }
  }
}
