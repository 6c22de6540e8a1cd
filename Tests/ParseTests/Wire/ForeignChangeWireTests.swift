import JSON
import SandboxParse
import Testing

@testable import MobileSync
@testable import Parse
@testable import RestClient

/// Changes by other clients to columns that an upload does not send.
struct ForeignChangeWireTests {
  private static let book: JSONValue = ["title": "a", "year": 1, "other": 5, "list": [1], "part": ["x": 1]]

  /// The entry's date is that of the object that it was received with, until a sync down brings the rest.
  @Test(arguments: ["OVERWRITE", "LEAVE_IF_CHANGED", "MERGE"], ["other", "list", "part", "added"])
  func update_otherColumnChangedThere_comesWithTheNextDown(mode: String, column: String) async throws {
    try await ParseBench.with { bench async throws in
      let id = try await bench.create("Book", Self.book)
      try await bench.down(options: ["mergeMode": "MERGE"])
      bench.clock.advance(by: 3600)
      let values: JSONObject = ["other": 6, "list": [1, 2], "part": ["x": 2], "added": "new"]
      try await bench.call(.PUT, "/classes/Book/\(id)", .object([column: values[column] ?? .null]))
      bench.clock.advance(by: 60)
      try bench.edit(id, ["title": "mine"])
      let state = try await bench.up("Book", UploadWireTests.lists, mode: mode)
      #expect(state.status == .done, "\(state.error)")
      bench.clock.advance(by: 60)
      try await bench.again()
      let entry = try bench.entry(id), object = try await bench.object("Book", id)
      if entry?["__local__"] == false {
        #expect(entry?[column] == values[column] && object["title"] == "mine" && entry?["title"] == "mine")
      } else {
        #expect(mode == "LEAVE_IF_CHANGED" && state.counts.conflicting == 1, "\(state.counts)")
      }
      #expect(object[column] == values[column])
    }
  }

  /// The object is made anew with the columns that are sent, and the soup has no others.
  @Test func overwrite_deletedThere_isMadeAnewAndTheSoupHasWhatTheServerHas() async throws {
    try await ParseBench.with { bench async throws in
      let id = try await bench.create("Book", Self.book)
      try await bench.down()
      try await bench.call(.DELETE, "/classes/Book/\(id)")
      try bench.edit(id, ["title": "mine"])
      let state = try await bench.up("Book", UploadWireTests.lists, mode: "OVERWRITE")
      #expect(state.status == .done && state.counts.succeeded == 1, "\(state.counts) \(state.error)")
      let object = try #require(try await bench.objects("Book").first), entries = try bench.entries()
      let entry = try #require(entries.first)
      #expect(entries.count == 1 && entry["objectId"] == object["objectId"] && entry["__local__"] == false)
      #expect(entry["title"] == "mine" && entry["year"] == 1)
      for column in ["other", "list", "part"] { #expect(entry[column] == nil && object[column] == nil, "\(column)") }
    }
  }

  /// There will never be an object to point to.
  @Test func create_pointerToAnEntryThatWasRemoved_isSentWithoutIt() async throws {
    try await ParseBench.with(soups: ["isbns", "books"]) { bench async throws in
      let books = UploadWireTests.lists.replacing(with: ["pointers": ["isbn": ["className": "ISBN", "soup": "isbns"]]])
      let known = try await bench.create("Book", ["title": "old"])
      try await bench.down()
      try bench.make(["objectId": "local_i", "value": "978"], "isbns")
      let pointer: JSONValue = ["__type": "Pointer", "className": "ISBN", "objectId": "local_i"]
      try bench.make(["objectId": "local_b", "title": "new", "isbn": pointer])
      try bench.edit(known, ["isbn": pointer])
      #expect(try await bench.up("Book", books).counts.failed == 2, "the other one may still be sent")
      let entryId = try bench.entries("isbns").first?["_soupEntryId"]?.integerValue ?? 0
      try await bench.store.write(.synced) { try $0.remove([entryId], from: "isbns") }
      let state = try await bench.again("up")
      #expect(state.status == .done && state.counts.succeeded == 2, "\(state.counts)")
      #expect(try await bench.objects("Book").allSatisfy { $0["isbn"] == nil })
      #expect(try bench.entries().allSatisfy { $0["isbn"] == nil && $0["__local__"] == false })
    }
  }
}
