import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// An edit that no list of the target names is not sent: it stays, is counted as skipped, and says why.
struct NothingToSendWireTests {
  private static let modes = ["OVERWRITE", "LEAVE_IF_CHANGED", "MERGE"]

  private func expectKept(_ bench: CollectionBench, _ state: SyncState, _ field: String) throws {
    #expect(state.status == .done && state.counts.succeeded == 0 && state.counts.skipped == 1, "\(state.counts)")
    #expect(try bench.entry(1)?["__local__"] == true)
    let error = try bench.lastError(try bench.entry(1))["message"]?.stringValue ?? ""
    #expect(error.contains("nothing to send") && error.contains("'\(field)'"), "\(error)")
    #expect(bench.server.recordRequests.allSatisfy { $0.hasPrefix("GET ") })
  }

  private static func update(_ members: JSONObject) -> JSONObject {
    ["update": .object((["url": "/items/{id}"] as JSONObject).replacing(with: members))]
  }

  @Test(arguments: modes, ["PATCH", "PUT"]) func update_editedMemberNotListed_staysDirtyAndNamed(mode: String, method: String)
    async throws
  {
    for fields: JSONValue in [["nmae"], ["description"], ["Name"], ["full_name"]] {
      try await CollectionBench.with(rows: 1) { bench async throws in
        try await bench.down(CollectionBench.upTarget())
        try bench.edit(1, ["name": "mine"])
        let up = Self.update(["fields": fields, "method": .string(method), "merges": true])
        try expectKept(bench, try await bench.up(up, mode: mode), "name")
        #expect(try await bench.upAgain().counts.skipped == 1)
        try await bench.again()
        #expect(try bench.entry(1)?["name"] == "mine")
      }
    }
  }

  @Test(arguments: modes) func update_memberRemovedHere_isNotCountedAsSent(mode: String) async throws {
    for fields: JSONValue in [["name", "full_name"], "*"] {
      try await CollectionBench.with(rows: 1) { bench async throws in
        try await bench.down(CollectionBench.upTarget())
        try bench.remove(1, "full_name")
        let method: JSONValue = fields == "*" ? "PUT" : "PATCH"
        try expectKept(bench, try await bench.up(Self.update(["fields": fields, "method": method]), mode: mode), "full_name")
      }
    }
  }

  @Test(arguments: modes) func update_memberRemovedHere_isSentAsNullWhereAsked(mode: String) async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.remove(1, "full_name")
      let state = try await bench.up(Self.update(["fields": ["name", "full_name"], "nullOnMissing": true]), mode: mode)
      #expect(state.counts.succeeded == 1, "\(state.counts)")
      #expect(bench.server.with { $0.rows[0]["full_name"] } == .null)
    }
  }

  @Test(arguments: modes) func update_editListedInPart_keepsTheRest(mode: String) async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["name": "mine", "full_name": "mine/too"])
      let state = try await bench.up(Self.update(["fields": ["name"]]), mode: mode)
      #expect(state.counts.succeeded == 1, "\(state.counts)")
      let entry = try bench.entry(1)
      #expect(entry?["__local__"] == true && entry?["name"] == "mine" && entry?["full_name"] == "mine/too")
      #expect(bench.server.with { $0.rows[0]["name"] } == "mine")
      let again = try await bench.up(Self.update(["fields": ["name", "full_name"]]), mode: mode, name: "all")
      #expect(again.counts.succeeded == 1 && again.counts.conflicting == 0, "\(again.counts)")
      #expect(bench.server.with { $0.rows[0]["full_name"] } == "mine/too")
      #expect(try bench.entry(1)?["__local__"] == false)
    }
  }

  /// An object that is replaced by the listed part of it: only what is sent was edited.
  @Test(arguments: modes) func update_objectReplacedByItsListedPart_isSentWhole(mode: String) async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["owner": ["login": "mine"]])
      let state = try await bench.up(Self.update(["fields": ["owner.login"]]), mode: mode)
      #expect(state.counts.succeeded == 1, "\(state.counts)")
      let entry = try bench.entry(1)
      #expect(entry?["__local__"] == false && entry?["owner"]?["login"] == "mine" && entry?["__last_error__"] == nil)
    }
  }

  @Test(arguments: modes) func update_objectEditedBesideItsListedPart_keepsTheRest(mode: String) async throws {
    for owner: JSONValue in [["login": "mine", "id": 8], ["login": "mine", "id": 7, "note": "mine"]] {
      try await CollectionBench.with(rows: 1) { bench async throws in
        try await bench.down(CollectionBench.upTarget())
        try bench.edit(1, ["owner": owner])
        let state = try await bench.up(Self.update(["fields": ["owner.login"]]), mode: mode)
        #expect(state.counts.succeeded == 1, "\(state.counts)")
        let entry = try bench.entry(1)
        #expect(entry?["__local__"] == true && entry?["owner"] == owner && entry?["__last_error__"] != nil)
      }
    }
  }

  @Test(arguments: modes) func update_unlistedPartOfAnObjectRemoved_isNotCountedAsSent(mode: String) async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["owner": ["login": "acme"]])
      try expectKept(bench, try await bench.up(Self.update(["fields": ["owner.login"]]), mode: mode), "owner")
    }
  }
}

extension CollectionBench {
  /// Removes a member of an entry as a script does.
  func remove(_ id: Int, _ key: String) throws {
    guard var entry = try entry(id) else { throw WireFailure("no entry \(id)") }
    entry[key] = nil
    entry["__local__"] = true
    entry["__locally_updated__"] = true
    try store.upsert(JSONValue.array([.object(entry)]).text, into: CollectionBench.soup)
  }
}
