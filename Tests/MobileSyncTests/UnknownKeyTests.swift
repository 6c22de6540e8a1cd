import JSON
import Testing

@testable import MobileSync
@testable import Salesforce

/// A misspelled key is an error, because its intent would be ignored.
@Suite struct UnknownKeyTests {
  private static let soql: JSONObject = ["type": "soql", "query": "SELECT Id FROM Account"]

  private func failure(
    _ type: SyncType, _ target: JSONObject, _ options: JSONObject? = ["fieldlist": ["Name"]]
  ) -> SyncError? {
    do {
      _ = try SyncState(defining: type, target: target, options: options, soupName: "s", name: nil, targets: .salesforce)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    arguments: [
      (["mergemode": "LEAVE_IF_CHANGED"], "options: 'mergemode' is not known here; did you mean 'mergeMode'?"),
      (["fieldList": ["Name"]], "options: 'fieldList' is not known here; did you mean 'fieldlist'?"),
      (["fieldlist": .array(Array(repeating: "a", count: 5001))], "options: fieldlist can have 5000 names at most"),
      (["speed": 1], "options: 'speed' is not known here; known: mergeMode, fieldlist, resolver, resolve, maxPages, graceMs"),
    ] as [(JSONObject, String)])
  func define_unknownOption_isRefusedAndNamesTheNearest(options: JSONObject, message: String) {
    let error = failure(.syncDown, Self.soql, options)
    #expect(error == SyncError(.invalidOptions, message) && error?.place == [.key("options"), .key(options.keys[0])])
  }

  @Test(
    arguments: [
      (.syncDown, ["type": "soql", "qeury": "x"], "soql target: 'qeury' is not known here; did you mean 'query'?"),
      (
        .syncDown, ["type": "soql", "query": "SELECT Id FROM Account", "maxbatchsize": 5],
        "soql target: 'maxbatchsize' is not known here; did you mean 'maxBatchSize'?"
      ),
      (.syncDown, ["type": "mru", "fieldList": []], "mru target: 'fieldList' is not known here; did you mean 'fieldlist'?"),
      (
        .syncDown, ["type": "briefcase", "infos": [["sObjectType": "Account"]]],
        "briefcase target, infos[1]: 'sObjectType' is not known here; did you mean 'sobjectType'?"
      ),
      (
        .syncDown, ["type": "parent_children", "parent": ["soupname": "a"]],
        "parent_children target, parent: 'soupname' is not known here; did you mean 'soupName'?"
      ),
      (
        .syncDown, ["type": "custom", "luaImpl": "m", "sortedbymodification": true],
        "custom target: 'sortedbymodification' is not known here; did you mean 'sortedByModification'?"
      ),
      (
        .syncUp, ["createFieldList": ["Name"]],
        "sync up target: 'createFieldList' is not known here; did you mean 'createFieldlist'?"
      ),
      (
        .syncUp, ["type": "batch", "maxbatchsize": 5],
        "sync up target: 'maxbatchsize' is not known here; did you mean 'maxBatchSize'?"
      ),
      (.syncUp, ["luaimpl": "m"], "sync up target: 'luaimpl' is not known here; known: "),
      (.syncUp, ["type": "colection"], "unknown sync up target type: 'colection'; did you mean 'collection'?"),
      (.syncDown, ["type": "sqol"], "unknown sync down target type: 'sqol'; did you mean 'soql'?"),
      (.syncDown, ["type": "nonsense"], "unknown sync down target type: 'nonsense'; known: soql, sosl, mru, "),
    ] as [(SyncType, JSONObject, String)])
  func define_unknownTargetKey_isRefusedAndNamesTheNearest(type: SyncType, target: JSONObject, message: String) {
    let error = failure(type, target)
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "accepted")")
    #expect(error?.code == "invalidTarget" && error?.place.first == .key("target"))
  }

  /// The JSON of the Mobile SDKs and our own stored JSON are accepted.
  @Test(
    arguments: [
      (
        .syncDown,
        [
          "type": "soql", "query": "SELECT Id FROM Account", "idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate",
          "maxBatchSize": 2000, "androidImpl": "com.x.SoqlSyncDownTarget", "iOSImpl": "SFSoqlSyncDownTarget",
        ]
      ),
      (.syncDown, ["type": "refresh", "sobjectType": "A", "fieldlist": ["N"], "soupName": "s", "coundIdsPerSoql": 5]),
      (.syncDown, ["type": "custom", "luaImpl": "m", "folder": "/tmp", "Query": 1]),
      (.syncUp, ["androidImpl": "com.x.SyncUpTarget", "iosImpl": "SFSyncUpTarget", "createFieldlist": ["N"]]),
      (.syncUp, [:]), (.syncUp, ["luaImpl": "m", "host": "h"]),
    ] as [(SyncType, JSONObject)])
  func define_keysOfTheModel_areTaken(type: SyncType, target: JSONObject) throws {
    let options: JSONObject = ["fieldlist": ["Name"]]
    let state = try SyncState(defining: type, target: target, options: options, soupName: "s", name: nil, targets: .salesforce)
    let again = try SyncState(
      defining: type, target: state.target, options: state.options.json, soupName: "s", name: nil, targets: .salesforce)
    #expect(again == state)
  }

  /// A stored sync of an earlier release, with a key that it ignored, continues to run.
  @Test func reSync_storedTargetWithAnUnknownKey_runs() async throws {
    let bench = try await SyncBench(accounts: 3)
    let saved = try await bench.down(name: "s")
    try bench.store.writeBlocking(.synced) { transaction in
      var state = try #require(try SyncsSoup.find(.id(saved.id), in: transaction))
      var target = state.target
      target["maxbatchsize"] = 200
      state = SyncState(
        id: state.id, type: .syncDown, name: "s", target: target, options: state.options, soupName: state.soupName)
      try SyncsSoup.save(state, in: transaction)
    }
    let recorder = UpdateRecorder()
    try bench.manager.reSync(.name("s"), onUpdate: recorder.listener)
    #expect(await recorder.ended().status == .done)
    await bench.close()
  }
}
