import JSON
import Testing

@testable import MobileSync

/// Two processes on one store: one brings pages down while the other uploads its edits. A page that
/// was requested before the upload was written back must not undo it.
@Suite struct CrossingTests {
  private static let modes = ClientScript.Mode.allCases

  @Test(arguments: UploadKind.allCases)
  func syncDown_pageFromBeforeAnUpload_doesNotUndoIt(upload: UploadKind) async throws {
    let bench = try await CrossingBench(.overwrite, upload)
    try bench.world.org.update(bench.id, ["Fax": "theirs"])
    try await bench.down(whenAnswered: { try await bench.editAndSend(["Phone": "mine"]) })
    #expect(try bench.entry()?["Phone"] == "mine" && bench.entry()?.isLocal == false)
    // The entry can be sent as it is.
    try bench.edit(["Description": "later"])
    try await bench.sync(0, .up)
    #expect(try bench.onServer() == "later, mine, theirs")
    try await bench.sync(0, .down)
    #expect(try bench.entry()?["Fax"] == "theirs" && bench.entry()?["Phone"] == "mine")
    await bench.world.close()
  }

  /// The record comes although nobody else has changed it, because a re-sync looks back a little.
  @Test(arguments: modes, UploadKind.allCases)
  func syncDown_pageThatLooksBackBeforeAnUpload_doesNotUndoIt(mode: ClientScript.Mode, upload: UploadKind) async throws {
    let bench = try await CrossingBench(mode, upload)
    try await bench.down(whenAnswered: { try await bench.editAndSend(["Phone": "mine"]) })
    #expect(try bench.entry()?["Phone"] == "mine" && bench.entry()?.isLocal == false)
    await bench.world.close()
  }

  @Test(arguments: modes)
  func syncDown_pageFromBeforeAnUploadEditedSince_takesNothingBack(mode: ClientScript.Mode) async throws {
    let bench = try await CrossingBench(mode, .collection)
    try await bench.down(whenAnswered: {
      try await bench.editAndSend(["Phone": "mine"])
      try bench.edit(["Description": "later"])
    })
    #expect(try bench.entry()?["Phone"] == "mine" && bench.entry()?["Description"] == "later")
    #expect(try bench.world.clients[0].manager.conflicts(inSoup: "accounts").isEmpty)
    try await bench.sync(0, .up)
    #expect(try bench.onServer() == "later, mine, -" && bench.entry()?.isLocal == false)
    await bench.world.close()
  }

  /// An entry that was edited during its upload is dirty when the answer comes.
  @Test(arguments: modes)
  func syncDown_pageFromBeforeAnUploadEditedMeanwhile_takesNothingBack(mode: ClientScript.Mode) async throws {
    let bench = try await CrossingBench(mode, .collection)
    let isChecked = mode != .overwrite
    try await bench.down(whenAnswered: {
      try await bench.editAndSend(["Phone": "mine"], at: isChecked ? 2 : 1) { try bench.edit(["Description": "later"]) }
    })
    #expect(try bench.entry()?["Phone"] == "mine" && bench.entry()?["Description"] == "later")
    #expect(try bench.world.clients[0].manager.conflicts(inSoup: "accounts").isEmpty)
    try await bench.sync(0, .up)
    #expect(try bench.onServer() == "later, mine, -" && bench.entry()?.isLocal == false)
    await bench.world.close()
  }

  @Test(arguments: modes)
  func syncDown_pageFromBeforeADeletion_doesNotBringTheRecordBack(mode: ClientScript.Mode) async throws {
    let bench = try await CrossingBench(mode, .collection)
    try await bench.down(whenAnswered: {
      var entry = try #require(try bench.entry())
      entry["__local__"] = true
      entry["__locally_deleted__"] = true
      try bench.world.clients[1].save(entry)
      try await bench.sync(1, .up)
    })
    #expect(try bench.entry() == nil && bench.world.org.records(["Name"]).isEmpty)
    await bench.world.close()
  }

  /// A sync up has created the record, and no sync down has brought it before.
  @Test(arguments: modes)
  func syncDown_pageFromBeforeTheDeletionOfARecordCreatedHere_doesNotBringItBack(mode: ClientScript.Mode) async throws {
    let bench = try await CrossingBench(mode, .collection), clients = bench.world.clients
    try clients[1].save([
      "Id": "local_1", "attributes": ["type": "Account"], "Name": "B", "__local__": true, "__locally_created__": true,
      "__locally_updated__": false, "__locally_deleted__": false,
    ])
    try await bench.sync(1, .up)
    bench.world.org.clock.advance(by: 5)
    try await bench.down(whenAnswered: {
      var entry = try #require(try clients[0].entries().first { $0.name == "B" })
      entry["__local__"] = true
      entry["__locally_deleted__"] = true
      try clients[1].save(entry)
      try await bench.sync(1, .up)
    })
    #expect(try clients[0].entries().map(\.name) == ["A"])
    #expect(try bench.world.org.records(["Name"]).count == 1)
    await bench.world.close()
  }

  /// The page was read after the upload and has somebody else's later change: the next run requests
  /// it again.
  @Test func syncDown_pageFromBeforeTheAnswerToAnUpload_isAskedForAgain() async throws {
    let bench = try await CrossingBench(.overwrite, .collection), world = bench.world
    let (answered, answer) = AsyncStream<Void>.makeStream(), (written, write) = AsyncStream<Void>.makeStream()
    try await bench.editAndSend(["Phone": "mine"]) {
      // The server has the update, and the answer takes an hour.
      try world.org.update(bench.id, ["Fax": "theirs"])
      world.org.clock.advance(by: 3_600)
      bench.background.withLock {
        $0 = Task {
          try await bench.down(whenAnswered: {
            answer.finish()
            for await _ in written {}
          })
        }
      }
      for await _ in answered {}
    }
    write.finish()
    try await bench.background.withLock { $0 }?.value
    #expect(try bench.entry()?["Phone"] == "mine" && bench.entry()?.isLocal == false)
    try await bench.sync(0, .down)
    #expect(try bench.entry()?["Fax"] == "theirs" && bench.entry()?["Phone"] == "mine")
    await world.close()
  }
}
