import JSON
import SmartStore
import TestSupport
import Testing

@testable import Tureen

/// What an import writes: only what the file changes, into the entry as it is by then.
@Suite struct ImportPatchTests {
  private let entry: JSONObject = [
    "_soupEntryId": 1, "Key": "k", "Phone": "1", "Title": "CEO", "Address": ["City": "Kiel", "Street": "A 1", "Old": 1],
    "a.b": ["c": 1], "List": [1, 2],
  ]

  @Test func updating_namesTheDifferences() {
    var changed = entry
    changed["Phone"] = "2"
    changed["Address"] = ["City": "Köln", "Street": "A 1", "Zip": ["Code": "1"]]
    changed["a.b"] = ["c": 2]
    changed["List"] = nil
    changed["__local__"] = true
    let patch = ImportPatch.updating(entry, to: changed, externalId: "k")
    #expect(patch["set"] == ["Phone": "2", "a.b": ["c": 2]])
    #expect(patch["unset"] == ["List"])
    #expect(
      patch["operations"] == [
        "Address.Old": ["__op": "Delete"], "Address.City": ["__op": "Set", "value": "Köln"],
        "Address.Zip": ["__op": "Set", "value": ["Code": "1"]],
      ])
  }

  /// A sync writes between the import's read and its write.
  @Test func update_besideASync_leavesTheSyncsValues() throws {
    let folder = try TemporaryFolder()
    let store = try Store(name: "imports", isGlobal: false, path: folder.path + "/imports.sqlite", key: nil)
    defer { store.close() }
    try store.registerSoup("people", indexSpecs: [IndexSpec(path: "Key", type: .string)])
    var before = entry
    before["_soupEntryId"] = nil
    _ = try store.upsert(JSONValue.array([.object(before)]).serialized(), into: "people")
    var changed = entry
    changed["Phone"] = "2"
    changed["Address"] = ["City": "Köln", "Street": "A 1", "Old": 1]
    let patch = try EntryPatch(ImportPatch.updating(entry, to: changed, externalId: "k"), position: 0)
    var synced = before
    synced["Title"] = "CTO"
    synced["Address"] = ["City": "Kiel", "Street": "B 2", "Old": 1]
    _ = try store.upsert(JSONValue.array([.object(synced)]).serialized(), into: "people", externalIdPath: "Key")
    let edited = try #require(try store.patch([patch], in: "people", externalIdPath: "Key")[0])
    let stored = try #require(try JSONValue(parsing: edited.entry).objectValue)
    #expect(stored["Phone"] == "2" && stored["Title"] == "CTO" && stored["__locally_updated__"] == true)
    #expect(stored["Address"] == ["City": "Köln", "Street": "B 2", "Old": 1])
  }

  /// A sync adds the record between the import's read and its write.
  @Test func create_besideASync_keepsTheSyncsFields() throws {
    let folder = try TemporaryFolder()
    let store = try Store(name: "imports", isGlobal: false, path: folder.path + "/imports.sqlite", key: nil)
    defer { store.close() }
    try store.registerSoup("people", indexSpecs: [IndexSpec(path: "Key", type: .string)])
    let new: JSONObject = [
      "Key": "k", "Id": "local_1", "Phone": "2", "attributes": ["type": "Contact"], "__local__": true,
      "__locally_created__": true,
    ]
    let patch = try EntryPatch(ImportPatch.creating(new, externalId: "k", idField: "Id"), position: 0)
    _ = try store.upsert(
      JSONValue.array([["Key": "k", "Id": "003", "Phone": "1", "Title": "CTO"]]).serialized(), into: "people")
    let edited = try #require(try store.patch([patch], in: "people", externalIdPath: "Key")[0])
    let stored = try #require(try JSONValue(parsing: edited.entry).objectValue)
    #expect(stored["Id"] == "003" && stored["Title"] == "CTO" && stored["Phone"] == "2")
    #expect(stored["__locally_created__"] == false && stored["__locally_updated__"] == true)
  }
}
