import JSON
import SandboxOrg
import SmartStore
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// The answer to an update is lost: what it sent is ours, whatever is edited here since.
@Suite struct UnansweredUpdateTests {
  private static let careful = [SyncBench.uploadLeave, SyncBench.merge]

  /// The server applies the update, or does not get it.
  enum Loss: CaseIterable, Sendable {
    case answer, request

    func next(_ bench: SyncBench) {
      bench.org.setInterceptor { request in
        guard request.method == "PATCH" || request.method == "POST" else { return nil }
        return self == .answer ? .dropAfterHandling : .dropBeforeHandling
      }
    }
  }

  private func lose(_ loss: Loss, _ bench: SyncBench, _ id: String, _ changes: JSONObject, _ options: JSONObject) async throws {
    try bench.edit(id, changes)
    bench.clock.advance(by: 60)
    loss.next(bench)
    #expect(try await bench.up(options).status == .failed)
    bench.org.setInterceptor(nil)
    bench.clock.advance(by: 60)
  }

  @Test(arguments: careful, UploadKind.allCases)
  func syncUp_editedAgain_isNoConflict(options: JSONObject, kind: UploadKind) async throws {
    for loss in Loss.allCases {
      let bench = try await SyncBench(kind: kind)
      let (id, _) = try await bench.syncedAccount()
      try await lose(loss, bench, id, ["Description": "first"], options)
      try bench.edit(id, ["Description": "second"])
      let end = try await bench.up(options)
      #expect(end.counts.succeeded == 1 && end.counts.conflicting == 0, "\(loss)")
      #expect(try bench.shownOnServer(id) == "A/second" && bench.shown(id) == "A/second" && bench.conflicts().isEmpty)
      await bench.close()
    }
  }

  @Test(arguments: careful, UploadKind.allCases)
  func syncUp_severalLost_areAllOurs(options: JSONObject, kind: UploadKind) async throws {
    let losses: [[Loss]] = [[.answer, .answer], [.answer, .request], [.request, .answer], [.answer, .request, .request]]
    for losses in losses {
      let bench = try await SyncBench(kind: kind)
      let (id, _) = try await bench.syncedAccount()
      for (n, loss) in losses.enumerated() {
        try await lose(loss, bench, id, ["Description": .string("lost \(n)")], options)
      }
      try bench.edit(id, ["Description": "last"])
      #expect(try await bench.up(options).counts.succeeded == 1, "\(losses)")
      #expect(try bench.shownOnServer(id) == "A/last" && bench.conflicts().isEmpty)
      await bench.close()
    }
  }

  /// The edit is undone: the server has to get the old value again.
  @Test(arguments: careful, UploadKind.allCases)
  func syncUp_editedBack_sendsTheOldValue(options: JSONObject, kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "before"])
    _ = try await bench.up(options)
    try await lose(.answer, bench, id, ["Description": "lost"], options)
    try bench.edit(id, ["Description": "before"])
    #expect(try await bench.up(options).counts.conflicting == 0)
    #expect(try bench.shownOnServer(id) == "A/before" && bench.shown(id) == "A/before")
    await bench.close()
  }

  @Test(arguments: careful, UploadKind.allCases)
  func syncDown_editedAgain_isNoConflict(options: JSONObject, kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    try await lose(.answer, bench, id, ["Description": "first"], options)
    try bench.edit(id, ["Description": "second"])
    #expect(try await bench.down(["mergeMode": options["mergeMode"] ?? .null]).counts.conflicting == 0)
    #expect(try await bench.up(options).counts.succeeded == 1)
    #expect(try bench.shownOnServer(id) == "A/second" && bench.conflicts().isEmpty)
    await bench.close()
  }

  /// Another process continues, without what this one knew.
  @Test(arguments: careful) func syncUp_processDied_isNoConflict(options: JSONObject) async throws {
    let bench = try await SyncBench()
    let (id, _) = try await bench.syncedAccount()
    try await lose(.answer, bench, id, ["Description": "first"], options)
    try bench.edit(id, ["Description": "second"])
    let other = try bench.anotherManager()
    let end = try await other.syncUp(target: bench.upTarget, options: options, soupName: "accounts")
    #expect(end.counts.succeeded == 1 && end.counts.conflicting == 0)
    #expect(try bench.shownOnServer(id) == "A/second")
    await other.shutdown()
    await bench.close()
  }

  @Test(arguments: careful, UploadKind.allCases)
  func syncUp_someoneElseWroteToo_isAConflict(options: JSONObject, kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    try await lose(.answer, bench, id, ["Description": "first"], options)
    try bench.change(id, ["Description": "theirs"])
    try bench.edit(id, ["Description": "second"])
    #expect(try await bench.up(options).counts.conflicting == 1)
    #expect(try bench.shownOnServer(id) == "A/theirs")
    await bench.close()
  }

  // MARK: Values that the server normalises

  /// The server stores another form of what it accepted.
  @Test(arguments: careful, UploadKind.allCases)
  func syncUp_serverNormalisedTheLastUpload_isNoConflict(options: JSONObject, kind: UploadKind) async throws {
    for next in ["Name", "Description"] {
      let bench = try await SyncBench(kind: kind)
      let (id, _) = try await bench.syncedAccount()
      try bench.edit(id, ["Description": "b;a"])
      #expect(try await bench.up(options).counts.succeeded == 1)
      try bench.change(id, ["Description": "a;b"])
      try bench.edit(id, [next: "edited"])
      let end = try await bench.up(options)
      #expect(end.counts.succeeded == 1 && end.counts.conflicting == 0, "\(next)")
      #expect(try bench.onServer(id)?[next]?.stringValue == "edited" && bench.conflicts().isEmpty)
      await bench.close()
    }
  }
}

/// The comparison itself.
@Suite struct OwnValuesTests {
  @Test(
    arguments: [
      (1.239, 1.24), (1.239, 1.23), (.null, false), ("b;a", "a;b"), ("a; b", "b;a"),
      ("2024-01-01T10:00:00.123Z", "2024-01-01T10:00:00Z"),
      ("2024-01-01T10:00:00.123+0000", "2024-01-01T10:00:00.000+0000"), ("001000000000001", "001000000000001AAA"), (" a ", "a"),
      ("", .null), ("5", 5), ("true", true), ("A@B.com", "a@b.com"), ("a\r\nb", "a\nb"), (2, 2.0),
      (.decimal("1e400"), .null), (.decimal("1e-400"), 0), ([1.239, ["a": "b;a"]], [1.24, ["a": "a;b"]]),
      ("\u{A0}", .null), ("a\u{85}\u{2003}", "a"), ("\u{3000} ", ""), ("\u{1}a\u{1F}", "a"),
      (9_007_199_254_740_993, 9_007_199_254_740_992), (.decimal("18446744073709551615"), .number(1.8446744073709552e19)),
    ] as [(JSONValue, JSONValue)])
  func isMade_formOfTheServer_is(sent: JSONValue, stored: JSONValue) { #expect(ServerForm.isMade(of: sent, stored)) }

  @Test(
    arguments: [
      (1.24, 1.239), (5, 4), (9_007_199_254_740_993, 9_007_199_254_740_990), (1.5, 3), (.null, true), ("a;b", "a;c"), ("a", "b"),
      ("2024-01-01T10:00:00Z", "2024-01-01T10:00:02Z"),
      ("001000000000001", "001000000000002AAA"), ("Ab", "aB"), (true, false), ("x", .null), (0, .null), ("", "\t"), ("a", "a "),
      ("a ", " a"), (.null, "\u{2029}"), ([1], [1, 2]),
      (["a": 1], ["a": 1, "b": 2]), (["a": 1], [:]), ([["a": 1]], [["a": 2]]),
    ] as [(JSONValue, JSONValue)])
  func isMade_otherValue_isNot(sent: JSONValue, stored: JSONValue) { #expect(!ServerForm.isMade(of: sent, stored)) }

  private static let fields = TargetFields(id: "Id", modificationDate: "Date")

  private func merge(
    base: JSONObject, local: JSONObject, server: JSONObject, unanswered: [JSONObject] = [], accepted: JSONObject? = nil
  ) -> RecordMerge {
    RecordMerge(
      base: base, local: local, server: server, fields: Self.fields,
      own: OwnValues(unanswered: unanswered, accepted: accepted))
  }

  @Test func merge_unansweredValue_isTheBase() {
    let found = merge(base: ["a": "0"], local: ["a": "2"], server: ["a": "1"], unanswered: [["a": "1"]])
    #expect(found.remoteChanges == [] && found.localChanges == ["a"] && found.conflicts == [] && !found.isSettled)
  }

  /// An org has false in the checkboxes that a create leaves out.
  @Test func merge_checkboxThatTheCreateLeftOut_isNoChangeThere() {
    let base: JSONObject = ["a": "1"], server: JSONObject = ["a": "1", "flag": false]
    let found = merge(base: base, local: ["a": "1", "flag": true], server: server, accepted: ["a": "1"])
    #expect(found.conflicts == [] && found.localChanges == ["flag"] && found.remoteChanges == [])
    #expect(merge(base: base, local: ["a": "2"], server: server, accepted: ["a": "1"]).merged["flag"] == false)
    let other = merge(base: ["a": "1", "flag": true], local: ["a": "1", "flag": nil], server: server, accepted: ["a": "1"])
    #expect(other.remoteChanges == ["flag"], "the base had true")
    #expect(merge(base: base, local: ["a": "1", "flag": true], server: server).remoteChanges == ["flag"], "nothing was sent")
  }

  @Test func merge_editedBack_isALocalChange() {
    let found = merge(base: ["a": "0"], local: ["a": "0"], server: ["a": "1"], unanswered: [["a": "1"]])
    #expect(found.localChanges == ["a"] && found.remoteChanges == [] && found.merged["a"] == "0")
  }

  @Test func merge_normalisedAndUntouched_takesTheServersForm() {
    let found = merge(base: ["a": 1.239], local: ["a": 1.239], server: ["a": 1.24], accepted: ["a": 1.239])
    #expect(found.localChanges == [] && found.remoteChanges == [] && found.merged["a"] == 1.24 && found.isSettled)
  }

  @Test func merge_baseIsNewerThanTheUpload_isARemoteChange() {
    let found = merge(base: ["a": "2"], local: ["a": "3"], server: ["a": "1"], accepted: ["a": "1"])
    #expect(found.conflicts == ["a"])
  }

  /// What the server computes from an update that arrived is no change by others.
  @Test func merge_computedMembers_followTheUpdate() {
    let base: JSONObject = ["a": "0", "slug": "0"], server: JSONObject = ["a": "1", "slug": "1"]
    #expect(merge(base: base, local: ["a": "1", "slug": "0"], server: server, unanswered: [["a": "1"]]).remoteChanges == [])
    #expect(
      merge(base: base, local: ["a": "1", "slug": "0"], server: ["a": "0", "slug": "1"], unanswered: [["a": "1"]])
        .remoteChanges == ["slug"])
  }
}
