import TestSupport
import Testing

@testable import SmartStore

/// Claims: rows that a run takes before it sends them.
struct ClaimTests {
  private func soup() throws -> TemporaryStore {
    let temporary = try TemporaryStore(soup: "s", [.string("Id"), .string("__local__")])
    try temporary.store.upsert(#"[{"Id":"a"},{"Id":"b"},{"Id":"c"}]"#, into: "s")
    return temporary
  }

  private func upload(_ id: Int64, sync: Int64 = 1, fence: Int64 = 1, _ operation: UploadRecord.Operation) -> UploadRecord {
    UploadRecord(entryId: id, version: 1, syncId: sync, fence: fence, operation: operation, sentAt: 5)
  }

  private func claim(
    _ uploads: [UploadRecord], _ temporary: TemporaryStore, isLive: Bool
  ) throws -> [ClaimOutcome] {
    try temporary.store.writeBlocking(.synced) { try $0.claim(uploads, in: "s") { _ in isLive } }
  }

  @Test func claim_freeRows_areTakenWithWhatIsSent() throws {
    let temporary = try soup()
    var create = upload(1, .create)
    create.sent = Array(#"{"fields":{"Name":"ä"}}"#.utf8)
    create.clockOffset = -7
    let update = upload(2, .update)
    #expect(try claim([create, update], temporary, isLive: true) == [.claimed, .claimed])
    #expect(try temporary.store.readBlocking { try $0.unsettledUploads(in: "s") } == [create, update])
    #expect(try temporary.store.readBlocking { try $0.unsettledCreates(in: "s") } == [create])
  }

  @Test func claim_rowsOfALiveRun_areHeld() throws {
    let temporary = try soup(), first = upload(1, .update)
    _ = try claim([first], temporary, isLive: true)
    #expect(try claim([upload(1, sync: 2, .delete), upload(2, sync: 2, .update)], temporary, isLive: true) == [.held, .claimed])
    #expect(try temporary.store.readBlocking { try $0.unsettledUpload(of: 1, in: "s") } == first)
  }

  @Test func claim_rowsOfADeadRun_areFreeButForCreates() throws {
    let temporary = try soup()
    let old = [upload(1, .update), upload(2, .create), upload(3, .customCreate)]
    _ = try claim(old, temporary, isLive: true)
    let next = [1, 2, 3].map { upload($0, fence: 2, .update) }
    #expect(try claim(next, temporary, isLive: false) == [.claimed, .unsettled, .claimed])
    #expect(try temporary.store.readBlocking { try $0.unsettledUploads(in: "s") } == [next[0], old[1], next[2]])
  }

  @Test func claim_editedOrRemovedRows_areNotTaken() throws {
    let temporary = try soup()
    try temporary.store.upsert(#"[{"_soupEntryId":1,"Id":"edited"}]"#, into: "s")
    try temporary.store.remove([2], from: "s")
    let uploads = [1, 2, 3].map { upload($0, .update) }
    #expect(try claim(uploads, temporary, isLive: true) == [.changed, .changed, .claimed])
  }

  @Test func claim_entryThatAwaitsItsEcho_isTaken() throws {
    let temporary = try soup()
    try temporary.store.writeBlocking(.synced) { try $0.expectEchoes([1, 2], in: "s") }
    #expect(try claim([upload(1, .update)], temporary, isLive: true) == [.claimed])
    try temporary.store.writeBlocking(.synced) { try $0.endAttempts([1, 2], in: "s") }
    #expect(try temporary.store.readBlocking { try $0.unsettledUploads(in: "s") }.isEmpty)
    #expect(try temporary.store.readBlocking { try $0.echoes(in: "s", idPath: "Id") } == ["a": 1, "b": 2])
  }

  /// A refused upload, or the death of its run, takes nothing away from what is known of the last
  /// accepted one.
  @Test func claim_entryWithAnOwnStamp_keepsIt() throws {
    let temporary = try soup(), store = temporary.store
    var accepted = upload(1, .update)
    accepted.sent = Array(#"{"fields":{"a":1}}"#.utf8)
    _ = try claim([accepted], temporary, isLive: true)
    try store.writeBlocking(.synced) { transaction in
      try transaction.expectEchoes([1], in: "s")
      try transaction.noteOwnStamp(77, of: 1, in: "s")
      try transaction.endAttempts([1], in: "s")
    }
    let known = [1: UploadedRecord(stamp: 77, sent: accepted.sent)] as [Int64: UploadedRecord]
    #expect(try store.readBlocking { try $0.uploaded(of: [1, 2], in: "s") } == known)
    #expect(try claim([upload(1, fence: 2, .update)], temporary, isLive: true) == [.claimed])
    #expect(try store.readBlocking { try $0.uploaded(of: [1], in: "s") } == known)
    try store.writeBlocking(.synced) { try $0.endAttempts([1], in: "s") }
    #expect(try store.readBlocking { try $0.uploaded(of: [1], in: "s") } == known)
  }

  @Test func claim_updateAfterOneWithoutAnAnswer_knowsWhatThatSent() throws {
    let temporary = try soup()
    for n in 1...3 {
      var next = upload(1, fence: Int64(n), .update)
      next.sent = Array("{\"fields\":{\"a\":\(n)}}".utf8)
      #expect(try claim([next], temporary, isLive: false) == [.claimed])
    }
    let found = try #require(try temporary.store.readBlocking { try $0.unsettledUpload(of: 1, in: "s") })
    #expect(found.earlier.map { String(decoding: $0, as: UTF8.self) } == #"[{"fields":{"a":2}},{"fields":{"a":1}}]"#)
    #expect(found.former?.sent.map { String(decoding: $0, as: UTF8.self) } == #"{"fields":{"a":2}}"#)
    #expect(found.former?.former?.former == nil)
  }

  @Test func forgetEndedUpdates_entryIsClean_forgetsThem() throws {
    let temporary = try soup(), store = temporary.store
    _ = try claim([upload(1, .update), upload(2, .update), upload(3, .create)], temporary, isLive: true)
    try store.upsert(#"[{"_soupEntryId":1,"Id":"a","__local__":true}]"#, into: "s")
    try store.writeBlocking(.synced) { try $0.forgetEndedUpdates(in: "s") { _ in true } }
    #expect(try store.readBlocking { try $0.unsettledUploads(in: "s").map(\.entryId) } == [1, 2, 3])
    try store.writeBlocking(.synced) { try $0.forgetEndedUpdates(in: "s") { _ in false } }
    #expect(try store.readBlocking { try $0.unsettledUploads(in: "s").map(\.entryId) } == [1, 3])
  }

  /// Only records that a sync down brought can come again; the note is removed at the end of the
  /// next sync down.
  @Test func removeUploaded_entryOfASync_isNotedUntilADownEnds() throws {
    let temporary = try soup(), store = temporary.store
    try store.sync(#"[{"Id":"x"}]"#, into: "s")
    let id = try #require(try store.readBlocking { try $0.entryIds(in: "s", where: "Id", equals: .text("x")) }.first)
    let mark = try store.readBlocking { try $0.uploadSequence() }
    try store.writeBlocking(.synced) { transaction in
      try transaction.removeUploaded(1, externalId: "a", from: "s")
      try transaction.removeUploaded(id, externalId: "x", from: "s")
      try transaction.expectEchoes([2], in: "s")
    }
    let since = { (mark: Int64) in try store.readBlocking { try $0.uploads(in: "s", idPath: "Id", since: mark) } }
    #expect(try since(mark) == ["x": id, "b": 2])
    #expect(try since(try store.readBlocking { try $0.uploadSequence() }).isEmpty)
    try store.writeBlocking(.synced) { try $0.forgetStaleEchoes(in: "s") }
    #expect(try since(mark) == ["b": 2])
  }

  @Test func arrivals_noCreateIsLeft_areForgotten() throws {
    let temporary = try soup(), store = temporary.store
    _ = try claim([upload(1, .create)], temporary, isLive: true)
    try store.writeBlocking(.synced) { try $0.noteArrivals([2, 3], in: "s") }
    try store.writeBlocking(.synced) { try $0.forgetArrivals(in: "s") }
    #expect(try store.readBlocking { try $0.arrivals(in: "s") } == [2, 3])
    try store.remove([2], from: "s")
    #expect(try store.readBlocking { try $0.arrivals(in: "s") } == [3])
    try store.writeBlocking(.synced) { transaction in
      try transaction.endAttempts([1], in: "s")
      try transaction.forgetArrivals(in: "s")
    }
    #expect(try store.readBlocking { try $0.arrivals(in: "s") }.isEmpty)
  }
}
