import JSON
import SandboxOrg
import Synchronization
import Testing

@testable import MobileSync
@testable import Salesforce

/// Our own uploads change the server's date, and others may write in the same second: the fields
/// show who changed what.
@Suite struct OwnUploadTests {
  private static let careful = [SyncBench.uploadLeave, SyncBench.merge]

  /// No sync down between the two uploads brings the date of the first one.
  @Test(arguments: careful, UploadKind.allCases)
  func syncUp_editedAgainAfterAnUpload_goesUp(options: JSONObject, kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    for text in ["first", "second"] {
      try bench.edit(id, ["Description": .string(text)])
      bench.clock.advance(by: 60)
      let end = try await bench.up(options)
      #expect(end.counts.succeeded == 1 && end.counts.conflicting == 0)
      #expect(try bench.shownOnServer(id) == "A/\(text)" && bench.shown(id) == "A/\(text)" && bench.conflicts().isEmpty)
    }
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_downLeftTheEditMeanwhile_goesUp(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "first"])
    bench.clock.advance(by: 60)
    _ = try await bench.up(SyncBench.uploadLeave)
    try bench.edit(id, ["Description": "second"])
    #expect(try await bench.down(["mergeMode": "LEAVE_IF_CHANGED"]).counts.conflicting == 0)
    #expect(try await bench.up(SyncBench.uploadLeave).counts.succeeded == 1)
    #expect(try bench.shownOnServer(id) == "A/second" && bench.conflicts().isEmpty)
    await bench.close()
  }

  @Test(arguments: careful, UploadKind.allCases)
  func syncUp_editedDuringAnUpload_goesUpWithTheNext(options: JSONObject, kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "first"])
    let once = Once()
    bench.org.setInterceptor { request in
      let isUpdate = request.method == "PATCH" || request.path.hasSuffix("/composite")
      if isUpdate, once.take() { try? bench.edit(id, ["Description": "second"]) }
      return nil
    }
    bench.clock.advance(by: 60)
    _ = try await bench.up(options)
    bench.org.setInterceptor(nil)
    #expect(try bench.shownOnServer(id) == "A/first" && bench.shown(id) == "A/second*")
    #expect(try await bench.up(options).counts.succeeded == 1)
    #expect(try bench.shownOnServer(id) == "A/second" && bench.conflicts().isEmpty)
    await bench.close()
  }

  /// The answer to an update was lost, so the server has exactly what is sent again.
  @Test(arguments: careful, UploadKind.allCases)
  func syncUp_updateSentBeforeWithoutAnAnswer_isNoConflict(options: JSONObject, kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "first"])
    // The server's state after that.
    try bench.change(id, ["Description": "first"])
    let end = try await bench.up(options)
    #expect(end.counts.succeeded == 1 && end.counts.conflicting == 0)
    #expect(try bench.shownOnServer(id) == "A/first" && bench.shown(id) == "A/first" && bench.conflicts().isEmpty)
    await bench.close()
  }

  /// An entry that was created here has no date, but others may change its record.
  @Test(arguments: careful, UploadKind.allCases)
  func syncUp_madeHereAndChangedThere_isAConflict(options: JSONObject, kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    try bench.createLocally("A", ["Description": "base"])
    _ = try await bench.up(options)
    let id = try #require(try bench.entry(named: "A")?["Id"]?.stringValue)
    try bench.edit(id, ["Description": "mine"])
    try bench.change(id, ["Description": "theirs"])
    #expect(try await bench.up(options).counts.conflicting == 1)
    #expect(try bench.shownOnServer(id) == "A/theirs" && bench.shown(id) == "A/mine*")
    await bench.close()
  }

  // MARK: After the upload

  /// Changes of others between comparison and update, or right after the update, arrive at once.
  @Test(arguments: careful, [2, 3])
  func syncUp_othersWriteWhileItIsSent_isTakenFromTheLookAfterIt(options: JSONObject, request: Int) async throws {
    let bench = try await SyncBench()
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    let count = RequestCount()
    bench.org.setInterceptor { _ in
      if count.next() == request {
        try? bench.change(id, request == 2 ? ["Name": "B"] : ["Name": "B", "Description": "theirs"])
      }
      return nil
    }
    let end = try await bench.up(options)
    bench.org.setInterceptor(nil)
    #expect(end.counts.succeeded == 1 && end.counts.merged == 1 && end.counts.conflicting == 0)
    let shown = request == 2 ? "B/mine" : "B/theirs"
    #expect(try bench.shown(id) == shown && bench.shownOnServer(id) == shown && bench.conflicts().isEmpty)
    // The next sync down brings nothing new, and the next edit causes no conflict.
    #expect(try await bench.manager.reSync(named: "A").totalSize == 0)
    try bench.edit(id, ["Description": "again"])
    #expect(try await bench.up(options).counts.succeeded == 1)
    #expect(try bench.shownOnServer(id) == "B/again")
    await bench.close()
  }

  /// The update is answered, but the record cannot be read afterwards: the upload still counts.
  @Test(arguments: careful)
  func syncUp_lookAfterItFails_isDone(options: JSONObject) async throws {
    let bench = try await SyncBench()
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    let count = RequestCount()
    bench.org.setInterceptor { _ in
      count.next() == 3 ? .respond(status: 500, headers: [], body: "busy") : nil
    }
    let end = try await bench.up(options)
    bench.org.setInterceptor(nil)
    #expect(end.status == .done && end.counts.succeeded == 1)
    #expect(try bench.shown(id) == "A/mine" && bench.shownOnServer(id) == "A/mine")
    await bench.close()
  }

  /// A copy that a script read before the upload equals the uploaded entry, because nobody else
  /// wrote meanwhile.
  @Test(arguments: careful, UploadKind.allCases)
  func syncUp_copyFromBeforeAnUpload_goesUp(options: JSONObject, kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "first"])
    var copy = try #require(try bench.entry(withId: id))
    bench.clock.advance(by: 60)
    _ = try await bench.up(options)
    copy["Description"] = "second"
    try bench.save(copy)
    #expect(try await bench.up(options).counts.succeeded == 1)
    #expect(try bench.shownOnServer(id) == "A/second" && bench.conflicts().isEmpty)
    await bench.close()
  }

  // MARK: The same second

  @Test(arguments: careful, UploadKind.allCases)
  func syncUp_changedThereInTheSecondOfTheCopy_isAConflict(options: JSONObject, kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    try bench.org.update("Account", id: id, fields: ["Description": "theirs"])
    try bench.edit(id, ["Description": "mine"])
    #expect(try await bench.up(options).counts.conflicting == 1)
    #expect(try bench.shownOnServer(id) == "A/theirs" && bench.shown(id) == "A/mine*")
    await bench.close()
  }

  @Test(arguments: careful, UploadKind.allCases)
  func syncUp_changedThereInTheSecondOfTheUpload_isAConflict(options: JSONObject, kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "first"])
    bench.clock.advance(by: 60)
    _ = try await bench.up(options)
    try bench.org.update("Account", id: id, fields: ["Description": "theirs"])
    try bench.edit(id, ["Description": "second"])
    #expect(try await bench.up(options).counts.conflicting == 1)
    #expect(try bench.shownOnServer(id) == "A/theirs" && bench.shown(id) == "A/second*")
    await bench.close()
  }

  // MARK: Between comparison and upload

  /// Every batch is compared right before it is sent.
  @Test(arguments: careful, UploadKind.allCases)
  func syncUp_changedThereWhileAnEarlierBatchIsSent_isAConflict(options: JSONObject, kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 3)
    _ = try await bench.down()
    for n in 0..<3 { try bench.updateLocally("Account \(n)", ["Description": "mine"]) }
    let id = try #require(try bench.entry(named: "Account 2")?["Id"]?.stringValue)
    let once = Once()
    bench.org.setInterceptor { request in
      let isUpdate = request.method == "PATCH" || request.path.hasSuffix("/composite")
      if isUpdate, once.take() { try? bench.change(id, ["Description": "theirs"]) }
      return nil
    }
    let end = try await bench.up(options, target: ["maxBatchSize": 1])
    bench.org.setInterceptor(nil)
    #expect(end.counts.succeeded == 2 && end.counts.conflicting == 1)
    #expect(try bench.shownOnServer(id) == "Account 2/theirs" && bench.dirtyCount() == 1)
    await bench.close()
  }

  /// A deletion has no condition that a server could check.
  @Test(arguments: careful, UploadKind.allCases)
  func syncUp_changedThereBeforeItsDeletionIsSent_isAConflict(options: JSONObject, kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 3)
    _ = try await bench.down()
    for n in 0..<3 { try bench.deleteLocally("Account \(n)") }
    let id = try #require(try bench.entry(named: "Account 2")?["Id"]?.stringValue)
    let once = Once()
    bench.org.setInterceptor { request in
      let isDeletion = request.method == "DELETE" || request.path.hasSuffix("/composite")
      if isDeletion, once.take() { try? bench.change(id, ["Description": "theirs"]) }
      return nil
    }
    let end = try await bench.up(options, target: ["maxBatchSize": 1])
    bench.org.setInterceptor(nil)
    #expect(end.counts.succeeded == 2 && end.counts.conflicting == 1)
    #expect(try bench.serverNames() == ["Account 2"] && bench.conflicts().first?.kind == .deletedHere)
    await bench.close()
  }

  /// A collection request has no condition. It sends only local changes, so that concurrent changes
  /// of other fields stay.
  @Test(arguments: careful)
  func syncUp_otherFieldChangedThereWhileItIsSent_stays(options: JSONObject) async throws {
    let bench = try await SyncBench()
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    let once = Once()
    bench.org.setInterceptor { request in
      if request.method == "PATCH", once.take() { try? bench.change(id, ["Name": "B"]) }
      return nil
    }
    #expect(try await bench.up(options).counts.succeeded == 1)
    bench.org.setInterceptor(nil)
    #expect(try bench.shownOnServer(id) == "B/mine")
    _ = try await bench.down()
    #expect(try bench.shown(id) == "B/mine")
    await bench.close()
  }

  /// Comparing up to a batch of records takes one request, and one more after updates without a
  /// condition.
  @Test(arguments: UploadKind.allCases)
  func syncUp_leaveIfChanged_looksOnceAtManyRecords(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 30)
    _ = try await bench.down()
    for n in 0..<30 { try bench.updateLocally("Account \(n)", ["Description": "mine"]) }
    bench.org.clearRequests()
    #expect(try await bench.up(SyncBench.uploadLeave).counts.succeeded == 30)
    #expect(bench.requests().filter { $0.hasSuffix("/composite/sobjects/Account") }.count == (kind == .collection ? 2 : 1))
    await bench.close()
  }

  /// A field that a script keeps for itself is requested once per run, not once per batch.
  @Test func syncUp_fieldThatTheServerDoesNotKnow_isAskedForOnce() async throws {
    let bench = try await SyncBench(accounts: 3)
    _ = try await bench.down()
    for n in 0..<3 {
      var entry = try #require(try bench.entry(named: "Account \(n)"))
      for key in ["note", "colour"] { entry[key] = "own" }
      try bench.save(entry)
      try bench.updateLocally("Account \(n)", ["Description": "mine"])
    }
    bench.org.clearRequests()
    #expect(try await bench.up(SyncBench.uploadLeave, target: ["maxBatchSize": 1]).counts.succeeded == 3)
    // Each batch is read before and after; the unknown fields cost at most one more request each.
    let looks = bench.requests().filter { $0.hasSuffix("/composite/sobjects/Account") }.count
    #expect((7...8).contains(looks), "\(looks)")
    await bench.close()
  }

  // MARK: Copies that a script kept

  /// A copy is read before a sync down and saved after it, so its base is not that of the current
  /// entry.
  @Test(arguments: careful, UploadKind.allCases)
  func syncUp_copyFromBeforeADown_isAConflict(options: JSONObject, kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    var copy = try #require(try bench.entry(withId: id))
    try bench.change(id, ["Name": "B"])
    _ = try await bench.down()
    copy["Description"] = "mine"
    copy["__local__"] = true
    copy["__locally_updated__"] = true
    try bench.save(copy)
    #expect(try await bench.up(options).counts.conflicting == 1)
    #expect(try bench.shownOnServer(id) == "B/base" && bench.shown(id) == "A/mine*")
    await bench.close()
  }

  @Test(
    arguments: [
      // The same date and values.
      (#"{"D":"1","a":"x"}"#, #"{"D":"1","a":"y"}"#, #"{"D":"1","a":"x"}"#, true, true),
      // A newer date with the same values; texts are trimmed.
      (#"{"D":"1","a":" x "}"#, #"{"D":"1","a":"y"}"#, #"{"D":"2","a":"x"}"#, true, true),
      // Other values with the same date.
      (#"{"D":"1","a":"x"}"#, #"{"D":"1","a":"y"}"#, #"{"D":"1","a":"z"}"#, false, false),
      // The server has the values to send; merging settles the entry.
      (#"{"D":"1","a":"x"}"#, #"{"D":"1","a":"y"}"#, #"{"D":"2","a":"y"}"#, true, false),
      // A field that neither side had before says nothing.
      (#"{"D":"1","a":"x"}"#, #"{"D":"1","a":"y"}"#, #"{"D":"1","a":"x","b":"z"}"#, true, true),
      // The entry is based on another version than the stored base.
      (#"{"D":"2","a":"x"}"#, #"{"D":"1","a":"y"}"#, #"{"D":"2","a":"x"}"#, false, false),
      // A script removed the date.
      (#"{"D":"1","a":"x"}"#, #"{"a":"y"}"#, #"{"D":"2","a":"z"}"#, false, false),
      (#"{"D":"1","a":"x"}"#, #"{"a":"y"}"#, #"{"D":"2","a":"x"}"#, true, true),
      // Created here: there never was a date.
      (#"{"a":"x"}"#, #"{"a":"y"}"#, #"{"D":"2","a":"z"}"#, false, false),
      (#"{"a":"x"}"#, #"{"a":"y"}"#, #"{"D":"2","a":"x"}"#, true, true),
      // Without a base, only the dates count.
      (nil, #"{"D":"1","a":"y"}"#, #"{"D":"1","a":"z"}"#, true, true),
      (nil, #"{"D":"1","a":"y"}"#, #"{"D":"2","a":"y"}"#, false, false),
      (nil, #"{"a":"y"}"#, #"{"D":"2","a":"z"}"#, true, false),
    ] as [(String?, String, String, Bool, Bool)])
  func mayUpload_fields_table(base: String?, entry: String, server: String, leave: Bool, merge: Bool) throws {
    func object(_ text: String) throws -> JSONObject {
      var object = try #require(try JSONValue(parsing: text).objectValue)
      if let day = object["D"]?.stringValue { object["D"] = .string("2026-03-0\(day)T00:00:00.000+0000") }
      return object
    }
    for (mode, expected) in [(MergeMode.leaveIfChanged, leave), (.merge, merge)] {
      let mayUpload = UploadComparison.mayUpload(
        try object(entry), LocalFlags(isUpdated: true), base: try base.map(object), server: .record(try object(server)),
        TargetFields(id: "Id", modificationDate: "D"), mode)
      #expect(mayUpload == expected, "\(mode)")
    }
  }
}

private final class RequestCount: Sendable {
  private let count = Mutex(0)

  /// Returns 1, 2, and so on.
  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
