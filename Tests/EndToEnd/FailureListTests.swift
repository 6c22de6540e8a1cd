import Foundation
import Testing

/// Tests `scripts/dev/failures`, which prints the last lines of `scripts/test`.
struct FailureListTests {
  private func failures(_ log: String) async throws -> [String] {
    let place = try Workplace()
    let ended = try await place.run(Built.package.path + "/scripts/dev/failures", [try place.write(log, to: "test.log")])
    #expect(ended.status == 0, "\(ended.errors)")
    return ended.output.split(separator: "\n").map(String.init)
  }

  @Test func failures_ofFailedTests_areTheirFirstIssuesOnceEach() async throws {
    let found = try await failures(
      """
      ◇ Test plain() started.
      ◇ Test many(kind:) started.
      ◇ Test good() started.
      half a line of a child✘ Test many(kind:) recorded an issue with 1 argument kind → "a" at ManyTests.swift:7:5: Issue recorded
      ↳ what it said
      ✘ Test many(kind:) recorded an issue with 1 argument kind → "b" at ManyTests.swift:8:5: the second
      ✘ Test plain() recorded an issue at PlainTests.swift:3:1: Expectation failed: (a → 1) == (b → 2)
      ↳ a comment
      ✘ Test many(kind:) with 2 test cases failed after 0.1 seconds with 2 issues.
      ✘ Test plain() failed after 0.1 seconds with 1 issue.
      ✘ Test silent() failed after 0.1 seconds with 1 issue.
      ✔ Test good() passed after 0.1 seconds.
      ✘ Test run with 4 tests in 2 suites failed after 0.1 seconds with 3 issues.

      """)
    #expect(
      found == [
        "many(kind:)  ManyTests.swift:7:5: Issue recorded: what it said",
        "plain()  PlainTests.swift:3:1: Expectation failed: (a → 1) == (b → 2)",
        "silent()  failed; the log has the reason",
      ])
  }

  @Test func failures_ofARunThatCrashed_areTheTestsThatWereRunning() async throws {
    let log = """
      ◇ Test run started.
      ◇ Test ended() started.
      ◇ Test cases(of:) started.
      ◇ Test case passing 1 argument of → 1 to cases(of:) started.
      ➜ Test absent() skipped: "not here"
      ✔ Test ended() passed after 0.1 seconds.
      """
    #expect(try await failures(log) == ["cases(of:)  did not end"])
    let passed =
      "\n✔ Test cases(of:) with 1 test case passed after 0.1 seconds.\n"
      + "✔ Test run with 2 tests in 1 suite passed after 1 seconds.\n"
    #expect(try await failures(log + passed) == [])
  }

  @Test func failures_ofManyTestsWithLongIssues_areFortyShortLines() async throws {
    let issue = String(repeating: "ä→", count: 400)
    let found = try await failures(
      (1...60).map { "✘ Test t\($0)() recorded an issue at T.swift:\($0):1: \(issue)\n" }.joined())
    #expect(found.count == 40 && found.last == "and 21 more")
    #expect(found.dropLast().allSatisfy { $0.utf8.count <= 300 && !$0.contains("\u{FFFD}") && $0.hasSuffix("...") })
  }
}
