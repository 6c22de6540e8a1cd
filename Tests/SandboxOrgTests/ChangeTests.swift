import Foundation
import JSON
import SandboxOrg
import Testing

private let rows = "/services/data/v66.0/sobjects"

/// getUpdated and getDeleted. The clock starts at 2026-03-02 09:00:00 UTC.
@Suite struct ChangeTests {
  @Test func updatedAndDeleted_inTheSpan_listIds() async throws {
    let clock = ManualSandboxClock()
    try await withOrg(clock: clock) { server, client in
      let early = try server.create("Account", fields: ["Name": "early"])
      clock.advance(by: 600)
      let late = try server.create("Account", fields: ["Name": "late"])
      let gone = try server.create("Account", fields: ["Name": "gone"])
      try server.delete("Account", id: gone)
      let span = "start=2026-03-02T09:05:30%2B00:00&end=2026-03-02T09:11:59%2B00:00"
      let updated = try await client.send("GET", "\(rows)/Account/updated/?\(span)")
      #expect(updated.text == #"{"ids":["\#(late)"],"latestDateCovered":"2026-03-02T09:11:00.000+0000"}"#)
      let deleted = try await client.send("GET", "\(rows)/account/deleted?\(span)")
      #expect(deleted.json["deletedRecords"] == [["deletedDate": "2026-03-02T09:10:00.000+0000", "id": .string(gone)]])
      #expect(deleted.json["earliestDateAvailable"] == "2026-02-15T09:10:00.000+0000")
      let all = try await client.send("GET", "\(rows)/Account/updated?start=2026-03-02T09:00:00Z&end=2026-03-02T09:20:00")
      #expect(all.json["ids"] == [.string(early), .string(late)])
    }
  }

  @Test(arguments: [
    ("updated", "start=2026-03-02T08:00:00Z&end=2026-03-02T08:00:59Z", "INVALID_REPLICATION_DATE"),
    ("updated", "start=2026-03-02T08:00:00Z&end=2026-03-02T07:00:00Z", "INVALID_REPLICATION_DATE"),
    ("updated", "start=2026-01-30T08:00:00Z&end=2026-03-02T07:00:00Z", "INVALID_REPLICATION_DATE"),
    ("deleted", "start=2026-02-14T08:00:00Z&end=2026-03-02T07:00:00Z", "INVALID_REPLICATION_DATE"),
    ("deleted", "start=yesterday&end=2026-03-02T07:00:00Z", "INVALID_REPLICATION_DATE"),
    ("deleted", "start=2026-03-02T07:00:00Z", "MISSING_ARGUMENT"),
  ])
  func changes_badSpan_areRefused(resource: String, query: String, code: String) async throws {
    try await withOrg { _, client in
      let answer = try await client.send("GET", "\(rows)/Account/\(resource)?\(query)")
      #expect(answer.status == 400 && answer.errorCode == code)
    }
  }
}
