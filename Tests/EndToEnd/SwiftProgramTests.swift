import Foundation
import Glibc
import Testing

/// Tests the samples of the Swift guide, built with the package, against a served sandbox org.
@Suite struct SwiftProgramTests {
  private static let names = ["AccountList", "DetailView", "OptimisticDelete"]

  private static func source(_ name: String) throws -> String {
    try String(contentsOfFile: Built.package.path + "/Tests/EndToEnd/Programs/SwiftSamples/\(name).swift", encoding: .utf8)
  }

  /// Runs the named programs concurrently in a home with a served sandbox.
  /// - Returns: The lines that each of them printed.
  private func run(_ names: String..., in place: Workplace) async throws -> [[String]] {
    try await withThrowingTaskGroup(of: (Int, [String]).self) { group in
      for (index, name) in names.enumerated() {
        group.addTask {
          let ended = try await place.run(Built.folder.path + "/SwiftSamples", [place.home, name])
          #expect(ended.status == 0, "\(ended)")
          #expect(ended.errors == "", "the library prints no log")
          return (index, ended.output.split(separator: "\n").map(String.init))
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  /// Serves a sandbox org in a separate home while `body` runs.
  private func withSandbox<Result>(_ body: (Workplace) async throws -> Result) async throws -> Result {
    let place = try Workplace()
    let sandbox = try await Sandbox(place)
    let result = try await body(place)
    sandbox.child.send(SIGTERM)
    #expect(await sandbox.child.ended().status == 0)
    return result
  }

  private func run(_ name: String) async throws -> [String] {
    try await withSandbox { try await run(name, in: $0)[0] }
  }

  /// Returns the numbers that the program printed while it observed changes.
  private func counts(_ lines: [String]) -> [Int] {
    lines.compactMap { $0.hasPrefix("accounts now: ") ? Int($0.dropFirst(14)) : nil }
  }

  @Test func accountList_runsItsSyncsShowsContactsAndFollowsChanges() async throws {
    try await withSandbox { place in
      let first = try await run("AccountList", in: place)[0]
      #expect(first.first?.hasPrefix("accounts: ") == true && first.first?.hasSuffix(" new or changed") == true, "\(first)")
      #expect(first.dropFirst().first?.hasPrefix("contacts: ") == true && first[1] != "contacts: 0 new or changed")
      #expect(first.contains { $0.hasPrefix("  ") }, "no contact: \(first)")
      let count = try #require(counts(first).first)
      #expect(counts(first) == [count, count + 1])
      let second = try await run("AccountList", in: place)[0]
      #expect(Array(second.prefix(2)) == ["accounts: 0 new or changed", "contacts: 0 new or changed"], "\(second)")
      #expect(counts(second) == [count + 1, count + 2])
    }
  }

  /// The programs set up the same syncs in one home; only one of them runs a sync at a time.
  @Test func accountList_threeAtOnce_allEnd() async throws {
    try await withSandbox { place in
      let lists = try await run("AccountList", "AccountList", "AccountList", in: place)
      for lines in lists { #expect(counts(lines).count == 2, "\(lines)") }
    }
  }

  /// The killed process leaves its sync marked as running.
  @Test func accountList_afterAKilledOne_ends() async throws {
    try await withSandbox { place in
      // On a terminal each line is printed at once.
      let killed = try Child(
        Built.folder.path + "/SwiftSamples", [place.home, "AccountList"], in: place.path, terminal: Terminal())
      #expect(await killed.prints("accounts: "))
      killed.send(SIGKILL)
      _ = await killed.ended()
      let lines = try await run("AccountList", in: place)[0]
      #expect(lines.first == "accounts: 0 new or changed" && counts(lines).count == 2, "\(lines)")
    }
  }

  @Test func detailView_sendsAChangeAndANewRecord() async throws {
    let lines = try await run("DetailView")
    #expect(lines.first == "waiting: 2", "\(lines)")
    #expect(Array(lines.suffix(3)) == ["peopleUp DONE: 2 sent", "waiting: 0", "title: Chief of Staff"], "\(lines)")
  }

  @Test func optimisticDelete_putsTheRefusedRowBack() async throws {
    let lines = try await run("OptimisticDelete")
    func names(_ title: String) -> [Substring] {
      (lines.first { $0.hasPrefix(title + ": ") }?.dropFirst(title.count + 2) ?? "").split(
        separator: ", ", omittingEmptySubsequences: false)
    }
    let before = names("before")
    #expect(before.count == 5, "\(lines)")
    #expect(names("at once") == [before[1], before[3], before[4]])
    #expect(Set(names("after")) == Set(before.dropFirst()))
    #expect(lines.contains { $0.hasPrefix("\(before[2]) stays: ") && $0.contains("case") }, "\(lines)")
    #expect(lines.contains("not found: 404"))
  }

  /// Typical programs do not need these constructs.
  @Test(arguments: names) func programs_haveNoJSONAndNothingUnchecked(name: String) throws {
    let text = try Self.source(name)
    for word in ["JSONObject", "JSONValue", #"{\""#, "@unchecked", "Continuation", "nonisolated(unsafe)"] {
      #expect(!text.contains(word), "\(name) has \(word)")
    }
    #expect(text.split(separator: "\n").filter { $0.hasPrefix("import ") } == ["import Tureen"])
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count < 120, "a page of a tutorial")
  }
}
