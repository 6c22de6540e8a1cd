import JSON
import RestClient
import Testing

@testable import MobileSync
@testable import Salesforce

@Suite struct SyncDownProgressTests {
  private func progress(max: Int64, covered: Int64, ended: Bool = true, sorted: Bool = true) -> SyncDownProgress {
    SyncDownProgress(maxTimeStamp: max, covered: covered, previousRunEnded: ended, isSortedByModification: sorted)
  }

  @Test func reSync_serverAtRest_asksFromTheNewestStamp() {
    var run = progress(max: -1, covered: -1)
    #expect(run.since == -1)
    run.started(serverTime: 1_000_000, allowance: 60_000, latestModification: 5000)
    run.stored(latestModification: 5000, isLastPage: true)
    #expect(run.maxTimeStamp == 5000 && run.since == 5000)
  }

  @Test func reSync_afterFreshChanges_asksAgainForTheAllowance() {
    var run = progress(max: -1, covered: -1)
    run.started(serverTime: 1_000_000, allowance: 60_000, latestModification: 999_000)
    run.stored(latestModification: 999_000, isLastPage: true)
    #expect(run.maxTimeStamp == 999_000 && run.since == 940_000)
    #expect(run.mayBeKnown(stamp: 999_000) && !run.mayBeKnown(stamp: 999_001))
  }

  @Test func reSync_serverWithoutDate_allowsFromTheNewestRecord() {
    var run = progress(max: -1, covered: -1)
    run.started(serverTime: nil, allowance: 60_000, latestModification: 500_000)
    run.stored(latestModification: 500_000, isLastPage: true)
    #expect(run.since == 440_000)
  }

  @Test func reSync_afterStop_refetchesLastMillisecond() {
    var run = progress(max: -1, covered: -1)
    run.started(serverTime: 10_000_000, allowance: 60_000, latestModification: 5000)
    run.stored(latestModification: 5000, isLastPage: false)
    #expect(run.maxTimeStamp == 5000)
    let next = progress(max: run.maxTimeStamp, covered: run.covered, ended: false)
    #expect(next.since == 4999 && next.maxTimeStamp == 4999)
    #expect(!next.mayBeKnown(stamp: 5000), "what was stored of the last millisecond counts again, as in the model")
  }

  /// A run that stops inside the allowance must not skip the part that was not read.
  @Test func reSync_afterStopInsideTheAllowance_looksAtAllOfItAgain() {
    var run = progress(max: 1_000_000, covered: 900_000)
    run.started(serverTime: 9_000_000, allowance: 60_000, latestModification: 950_000)
    run.stored(latestModification: 950_000, isLastPage: false)
    let next = progress(max: run.maxTimeStamp, covered: run.covered, ended: false)
    #expect(next.since == 949_999)
    #expect(run.maxTimeStamp == 1_000_000)
  }

  /// The next run requests it again, but not what came before it.
  @Test func reSync_recordLeftOut_isAskedForAgain() {
    var run = progress(max: 1000, covered: 1000)
    run.started(serverTime: 10_000_000, allowance: 60_000, latestModification: 5000)
    run.left(stamp: 3000)
    run.stored(latestModification: 5000, isLastPage: false)
    #expect(run.since == 2999 && run.maxTimeStamp == 5000)
    run.stored(latestModification: 9000, isLastPage: true)
    #expect(run.since == 2999 && run.mayBeKnown(stamp: 5000))
    run.left(stamp: 2000)
    #expect(run.since == 1999)
  }

  @Test func stored_notSorted_movesTheStampsAtTheEndOnly() {
    var run = progress(max: -1, covered: -1, sorted: false)
    run.started(serverTime: 10_000_000, allowance: 0, latestModification: 700)
    run.stored(latestModification: 700, isLastPage: false)
    #expect(run.maxTimeStamp == -1 && run.since == -1)
    run.stored(latestModification: 300, isLastPage: true)
    #expect(run.maxTimeStamp == 700 && run.since == 700)
  }

  @Test func stored_nothing_keepsTheStamps() {
    var run = progress(max: 5000, covered: 5000)
    run.started(serverTime: 10_000_000, allowance: 0, latestModification: -1)
    run.stored(latestModification: -1, isLastPage: true)
    #expect(run.maxTimeStamp == 5000 && run.since == 5000)
  }

  @Test(arguments: [
    (30, [10, 10, 10], [33, 66]), (10, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [10, 20, 30, 40, 50, 60, 70, 80, 90]),
    (6, [1, 1, 1, 1, 1, 1], [16, 33, 50, 66, 83]), (10, [10], []), (0, [0], []), (3, [2, 5], [66]),
  ])
  func counter_pages_giveTheModelsNumbers(total: Int, pages: [Int], expected: [Int]) {
    var counter = ProgressCounter(total: total), seen: [Int] = []
    for page in pages {
      counter.advance(page)
      if counter.isReported { seen.append(counter.percent) }
    }
    #expect(seen == expected)
  }

  @Test func counter_moreThanAnnounced_stays99() {
    var counter = ProgressCounter(total: 2)
    counter.advance(5)
    #expect(counter.percent == 99 && !counter.isReported)
    counter.leaveOut(9)
    #expect(counter.total == 0 && counter.percent == 0)
  }
}

@Suite struct UploadDecisionTests {
  @Test(arguments: [
    (LocalFlags(isCreated: true), false, UploadAction.create), (LocalFlags(isCreated: true), true, .upsert),
    (LocalFlags(isCreated: true, isUpdated: true), false, .create), (LocalFlags(isUpdated: true), true, .update),
    (LocalFlags(isDeleted: true), false, .delete), (LocalFlags(isUpdated: true, isDeleted: true), false, .delete),
    (LocalFlags(isCreated: true, isDeleted: true), true, .removeLocally), (LocalFlags(), false, .update),
    (LocalFlags(isLocal: false, isUpdated: true), false, .nothing),
  ])
  func action_flags_table(flags: LocalFlags, hasExternalId: Bool, expected: UploadAction) {
    #expect(flags.action(hasExternalId: hasExternalId) == expected)
  }

  @Test(
    arguments: [
      (LocalFlags(isUpdated: true), Int64(5), RemoteRecord.modified(5), true),
      (LocalFlags(isUpdated: true), 6, .modified(5), true), (LocalFlags(isUpdated: true), 4, .modified(5), false),
      (LocalFlags(isUpdated: true), 4, .deleted, false), (LocalFlags(isDeleted: true), 4, .deleted, true),
      (LocalFlags(isDeleted: true), 4, .modified(5), false), (LocalFlags(isUpdated: true), 4, .unknown, false),
      (LocalFlags(isUpdated: true), nil, .modified(5), true), (LocalFlags(isUpdated: true), nil, .unknown, true),
      (LocalFlags(isUpdated: true), nil, .deleted, false), (LocalFlags(isDeleted: true), nil, .deleted, true),
      (LocalFlags(isCreated: true), 4, .modified(5), true),
    ] as [(LocalFlags, Int64?, RemoteRecord, Bool)])
  func mayUpload_table(flags: LocalFlags, stamp: Int64?, remote: RemoteRecord, expected: Bool) {
    #expect(LeaveIfChanged.mayUpload(flags, localStamp: stamp, remote: remote) == expected)
  }

  @Test(arguments: [
    (#"{"success":false,"errors":[{"statusCode":"ENTITY_IS_DELETED","message":"entity is deleted","fields":[]}]}"#, true),
    (#"{"success":false,"errors":[{"statusCode":"INVALID_CROSS_REFERENCE_KEY","message":"x","fields":[]}]}"#, true),
    (#"{"success":false,"errors":[{"statusCode":"INVALID_CROSS_REFERENCE_KEY","message":"x","fields":["AccountId"]}]}"#, false),
    (#"{"success":false,"errors":[{"statusCode":"STRING_TOO_LONG","message":"x","fields":["Name"]}]}"#, false),
    (#"{"id":"1","success":true,"errors":[]}"#, false),
  ])
  func maySayRecordIsGone_table(item: String, expected: Bool) throws {
    let result = try #require(UploadResult(collectionItem: JSONValue(parsing: item)))
    #expect(result.maySayRecordIsGone == expected)
  }
}

@Suite struct TargetTests {
  @Test(arguments: [
    "{}", #"{"type":"rest"}"#, #"{"androidImpl":null}"#, #"{"type":"collection"}"#,
    #"{"androidImpl":"com.salesforce.androidsdk.mobilesync.target.CollectionSyncUpTarget"}"#,
    #"{"iOSImpl":"SFCollectionSyncUpTarget"}"#,
  ])
  func up_defaults_areTheCollectionTarget(json: String) throws {
    let target = try TargetRegistry.salesforce.up(try #require(try JSONValue(parsing: json).objectValue))
    #expect(target is CollectionSyncUpTarget && target.settings.maxBatchSize == 200)
  }

  @Test(
    arguments: [
      (["type": "collection"], 200), (["type": "collection", "maxBatchSize": 201], 200),
      (["type": "collection", "maxBatchSize": 150], 150), (["type": "batch"], 25), (["type": "batch", "maxBatchSize": 26], 25),
      (["type": "batch", "maxBatchSize": 12], 12), (["type": "plain", "maxBatchSize": 9], 1),
    ] as [(JSONObject, Int)])
  func up_batchSize_isCappedAndStored(json: JSONObject, size: Int) throws {
    let settings = try TargetRegistry.salesforce.up(json).settings
    #expect(settings.maxBatchSize == size && settings.json["maxBatchSize"] == .integer(Int64(size)))
    #expect(try TargetRegistry.salesforce.up(settings.json).settings.json == settings.json)
  }

  @Test(arguments: ["collection", "batch", "plain"])
  func up_batchSizeOfZero_isRefused(type: String) {
    let message = "sync up target: 'maxBatchSize' must be a positive integer, got 0"
    #expect(throws: SyncError(.invalidTarget, message)) {
      try TargetRegistry.salesforce.up(["type": .string(type), "maxBatchSize": 0])
    }
  }

  @Test(
    arguments: [
      (["type": "plain"], "PlainSyncUpTarget"), (["androidImpl": "a.b.target.SyncUpTarget"], "PlainSyncUpTarget"),
      (["type": "rest", "iOSImpl": "SFSyncUpTarget"], "PlainSyncUpTarget"), (["type": "batch"], "BatchSyncUpTarget"),
      (["iOSImpl": "SFBatchSyncUpTarget"], "BatchSyncUpTarget"), (["type": "custom", "luaImpl": "m"], "CustomSyncUpTarget"),
      (["luaImpl": "m"], "CustomSyncUpTarget"),
      (["type": "rest", "androidImpl": "com.my.Own", "luaImpl": "m"], "CustomSyncUpTarget"),
    ] as [(JSONObject, String)])
  func up_typesAndClassNames_giveTheirTarget(json: JSONObject, name: String) throws {
    let target = try TargetRegistry.salesforce.up(json)
    #expect("\(type(of: target))" == name)
    #expect(try "\(type(of: TargetRegistry.salesforce.up(target.settings.json)))" == name)
  }

  @Test func up_unknownType_isRefused() {
    #expect(
      throws: SyncError(
        .invalidTarget, "unknown sync up target type: 'carrier pigeon'; known: plain, collection, batch, parent_children, custom")
    ) {
      try TargetRegistry.salesforce.up(["type": "carrier pigeon"])
    }
    #expect(throws: SyncError.self) { try TargetRegistry.salesforce.up(["androidImpl": "com.acme.Custom"]) }
  }

  @Test(arguments: ["{}", #"{"type":"soqll"}"#, #"{"type":7}"#, #"{"type":"cache"}"#])
  func down_unknownType_isRefused(json: String) throws {
    let object = try #require(try JSONValue(parsing: json).objectValue)
    #expect(throws: SyncError.self) { try TargetRegistry.salesforce.down(object) }
  }

  @Test func options_defaultsAndErrors() throws {
    #expect(try SyncOptions(nil) == SyncOptions(mergeMode: .overwrite, fieldlist: nil))
    #expect(try SyncOptions(["fieldlist": []]).fieldlist == [])
    #expect(
      try JSONValue.object(SyncOptions(["mergeMode": "LEAVE_IF_CHANGED", "fieldlist": ["Name"]]).json).text
        == #"{"fieldlist":["Name"],"mergeMode":"LEAVE_IF_CHANGED"}"#)
    #expect(throws: SyncError(.invalidOptions, "options: mergeMode must be OVERWRITE, LEAVE_IF_CHANGED or MERGE, got 'X'")) {
      try SyncOptions(["mergeMode": "X"])
    }
    #expect(throws: SyncError(.invalidOptions, "options: fieldlist must contain only field names, found number")) {
      try SyncOptions(["fieldlist": [1]])
    }
  }
}

@Suite struct SyncStateTests {
  @Test func json_roundTrip_isTheSame() throws {
    var state = SyncState(
      id: 4, type: .syncDown, name: "n", target: ["type": "soql", "query": "q"],
      options: SyncOptions(mergeMode: .leaveIfChanged), soupName: "contacts")
    state.enter(.running, now: 10)
    state.totalSize = 30
    state.maxTimeStamp = 1_423_170_723_000
    state.counts.fetched = 7
    #expect(try SyncState(state.json) == state)
    #expect(
      Array(state.json.keys.prefix(13)) == [
        "_soupEntryId", "type", "name", "target", "options", "soupName", "status", "progress", "totalSize",
        "maxTimeStamp", "startTime", "endTime", "error",
      ])
  }

  @Test func enter_statuses_keepTheTimes() {
    var state = SyncState(type: .syncUp, name: nil, target: [:], options: SyncOptions(), soupName: "s")
    #expect(state.status == .new && state.progress == 0 && state.totalSize == -1 && state.startTime == 0)
    state.enter(.running, now: 5)
    state.fail(SyncError(wrapping: RestError(code: .httpStatus, message: "m", status: 400, body: "[body]")), now: 9)
    #expect(state.startTime == 5 && state.endTime == 9 && state.status == .failed && state.error == "[body]")
    state.enter(.running, now: 20)
    #expect(state.error == "" && state.failure == nil && state.startTime == 20)
    state.enter(.stopped, now: 21)
    #expect(state.endTime == 21)
  }

  @Test func read_brokenRow_namesTheReason() {
    #expect(throws: SyncError(.invalidState, "the stored sync 3 cannot be read: unknown status")) {
      try SyncState(["_soupEntryId": 3, "type": "syncUp", "status": "LOST", "soupName": "s"])
    }
  }
}
