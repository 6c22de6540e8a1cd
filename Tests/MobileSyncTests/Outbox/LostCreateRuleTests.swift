import JSON
import SmartStore
import Testing

@testable import MobileSync

/// The rules for creates without an answer. No store, network or clock.
@Suite struct LostCreateRuleTests {
  private func upload(_ sentAt: Int64 = 0, offset: Int64? = nil, resendAt: Int64? = nil) -> UploadRecord {
    UploadRecord(entryId: 1, version: 1, syncId: 1, operation: .create, sentAt: sentAt, clockOffset: offset, resendAt: resendAt)
  }

  private func allows(_ upload: UploadRecord, now: Int64, offset: Int64? = nil) -> Bool {
    ResendRule(now: now, clockOffset: offset, longestRequestMs: 900_000).allows(upload)
  }

  @Test func resend_ownerDied_waitsForALookOrTheLongestRequest() {
    #expect(!allows(upload(), now: 899_999))
    #expect(allows(upload(), now: 900_000))
  }

  @Test func resend_withoutAServersClock_goesByThisOne() {
    #expect(!allows(upload(resendAt: 600_000), now: 599_999))
    #expect(allows(upload(resendAt: 600_000), now: 600_000, offset: 5))
  }

  @Test(
    arguments: [
      // No clock was set.
      (600_000, 7, true), (599_999, 7, false),
      // The clock was set forward by ten minutes right afterwards: the server shows the real time.
      (600_001, 7 - 600_000, false), (1_200_000, 7 - 600_000, true),
      // The clock was set back by a year.
      (-31_000_000_000, 7 + 31_000_600_000, true), (-31_000_000_000, 7 + 31_000_300_000, false),
    ] as [(Int64, Int64, Bool)])
  func resend_clockWasSet_goesByTheServers(now: Int64, offset: Int64, isAllowed: Bool) {
    #expect(allows(upload(1, offset: 7, resendAt: 600_000), now: now, offset: offset) == isAllowed)
  }

  // MARK: What was sent

  @Test func sentCreate_text_isReadBack() throws {
    var lookup = SentCreate.Lookup(fields: TargetFields(id: "Id", modificationDate: "LastModifiedDate"), waitMs: 7)
    lookup.references = SoupReference(soup: "contacts", field: "AccountId")
    lookup.parentField = "ParentId"
    let body = Array(#"{"Name":"ä \"q\"","ParentId":"local_9","Owner.Name":"x","Tags":[1],"n":null}"#.utf8)
    var record = upload()
    record.sent = SentCreate.text(lookup, type: "Account", id: "local_1", body: body)
    let sent = try #require(SentCreate(record))
    #expect(sent.lookup == lookup && sent.type == "Account" && sent.id == "local_1" && sent.parentId == "local_9")
    #expect(sent.fields == ["Name": #"ä "q""#, "n": .null])
    record.sent = sent.text(parentId: "001X")
    #expect(SentCreate(record)?.fields == ["Name": #"ä "q""#, "ParentId": "001X", "n": .null])
  }

  @Test(arguments: [nil, "", "{", #"{"type":"Account"}"#]) func sentCreate_unreadable_isUnknown(text: String?) {
    var record = upload()
    record.sent = text.map { Array($0.utf8) }
    #expect(SentCreate(record) == nil)
  }

  // MARK: Matching

  private func lost(_ id: Int64, _ sent: JSONObject?, _ times: ClosedRange<Int64> = 0...100) -> LostCreate {
    LostCreate(entryId: id, sent: sent, times: times)
  }

  private func candidate(
    _ id: String, _ fields: JSONObject, at time: Int64? = 50, isKnownHere: Bool = false
  ) -> CreateCandidate {
    CreateCandidate(id: id, fields: fields, createdAt: time, isKnownHere: isKnownHere)
  }

  @Test func decide_recordOfAnotherTime_isNotIt() {
    let candidates = [candidate("old", ["Name": "A"], at: -1), candidate("new", ["Name": "A"], at: 101)]
    #expect(LostCreateMatcher.decide([lost(1, ["Name": "A"])], candidates) == [1: .sendAgain])
    #expect(LostCreateMatcher.decide([lost(1, nil)], candidates) == [1: .sendAgain])
    #expect(LostCreateMatcher.decide([lost(1, ["Name": "A"])], [candidate("x", ["Name": "A"], at: nil)]) == [1: .adopt(id: "x")])
  }

  @Test func decide_alikeOfDifferentTimes_areFoundTogether() {
    let both = [lost(1, ["Name": "A"], 0...10), lost(2, ["Name": "A"], 90...100)]
    let found = LostCreateMatcher.decide(both, [candidate("a", ["Name": "A"], at: 5), candidate("b", ["Name": "A"], at: 95)])
    #expect(found == [1: .adopt(id: "a"), 2: .adopt(id: "b")])
  }

  @Test func decide_recordOfAnotherEntry_leavesDoubt() {
    let known = candidate("x", ["Name": "A"], isKnownHere: true)
    #expect(LostCreateMatcher.decide([lost(1, ["Name": "A"])], [known]) == [1: .inDoubt])
  }

  @Test func mayHaveMade_comparesWhatBothHave() {
    #expect(LostCreateMatcher.mayHaveMade(["Name": "A", "Description": "d"], ["Id": "x", "Name": "A"]))
    #expect(!LostCreateMatcher.mayHaveMade(["Name": "A", "Description": "d"], ["Id": "x", "Name": "B"]))
    #expect(LostCreateMatcher.mayHaveMade(["Name": "A"], ["Id": "x"]))
  }
}
