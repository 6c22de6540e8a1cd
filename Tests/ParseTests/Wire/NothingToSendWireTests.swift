import JSON
import Testing

@testable import MobileSync
@testable import Parse

/// An edit that no list of the target names is not sent: it stays, is counted as skipped, and says why.
struct NothingToSendWireTests {
  @Test(arguments: ["OVERWRITE", "LEAVE_IF_CHANGED", "MERGE"], ["Title", "titel", "year"])
  func update_editedColumnNotListed_staysDirtyAndNamed(mode: String, listed: String) async throws {
    try await ParseBench.with { bench async throws in
      let id = try await bench.create("Book", ["title": "a", "year": 1])
      try await bench.down()
      try bench.edit(id, ["title": "mine"])
      bench.forgetRequests()
      let lists: JSONObject = ["createFieldlist": ["title"], "updateFieldlist": [.string(listed)]]
      let state = try await bench.up("Book", lists, mode: mode)
      #expect(state.status == .done && state.counts.succeeded == 0 && state.counts.skipped == 1, "\(state.counts)")
      #expect(bench.requests.allSatisfy { $0.method == "GET" })
      let entry = try bench.entry(id), error = try bench.lastError(entry)["message"]?.stringValue ?? ""
      #expect(entry?["__local__"] == true && entry?["title"] == "mine")
      #expect(error.contains("nothing to send") && error.contains("'title'"), "\(error)")
    }
  }

  /// The listed columns are sent, also one that was removed; the others stay.
  @Test func update_editListedInPart_keepsTheRest() async throws {
    try await ParseBench.with { bench async throws in
      let id = try await bench.create("Book", ["title": "a", "year": 1, "other": 5])
      try await bench.down()
      try bench.edit(id, ["title": nil, "other": 6, "note": "of the script"])
      let state = try await bench.up("Book", ["createFieldlist": ["title"], "updateFieldlist": ["title"]])
      #expect(state.counts.succeeded == 1, "\(state.counts)")
      var entry = try bench.entry(id)
      #expect(entry?["__local__"] == true && entry?["other"] == 6)
      let again = try await bench.up("Book", ["createFieldlist": ["title"], "updateFieldlist": ["other"]], name: "others")
      #expect(again.counts.succeeded == 1, "\(again.counts)")
      entry = try bench.entry(id)
      let object = try await bench.object("Book", id)
      #expect(entry?["__local__"] == false && object["other"] == 6 && object["title"] == nil)
    }
  }
}
