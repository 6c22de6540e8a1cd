import Foundation
import Glibc
import Testing

/// The programs of the Swift guide, built with the package and run as their users would, against a served sandbox org.
@Suite struct SwiftProgramTests {
  private static let names = ["AccountList", "DetailView", "OptimisticDelete"]

  private static func source(_ name: String) throws -> String {
    try String(contentsOfFile: Built.package.path + "/Tests/EndToEnd/Programs/\(name)/main.swift", encoding: .utf8)
  }

  /// - Returns: The lines that it printed.
  private func run(_ name: String) async throws -> [String] {
    let place = try Workplace()
    let sandbox = try await Sandbox(place)
    let ended = try await place.run(Built.folder.path + "/" + name, [place.home])
    #expect(ended.status == 0, "\(ended)")
    // swift-log's own handler, where a program names no other.
    #expect(ended.errors.split(separator: "\n").allSatisfy { $0.contains(" info ") }, "\(ended.errors)")
    sandbox.child.send(SIGTERM)
    #expect(await sandbox.child.ended().status == 0)
    return ended.output.split(separator: "\n").map(String.init)
  }

  @Test func accountList_runsItsSyncsShowsContactsAndFollowsChanges() async throws {
    let lines = try await run("AccountList")
    #expect(lines.first?.hasPrefix("accounts: ") == true && lines.first?.hasSuffix(" new or changed") == true, "\(lines)")
    #expect(lines.dropFirst().first?.hasPrefix("contacts: ") == true && lines.dropFirst().first != "contacts: 0 new or changed")
    #expect(lines.contains { $0.hasPrefix("  ") }, "no contact: \(lines)")
    #expect(lines.last == "first: Aardvark Ltd")
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

  /// What a program of everyday work does not need.
  @Test(arguments: names) func programs_haveNoJSONAndNothingUnchecked(name: String) throws {
    let text = try Self.source(name)
    for word in ["JSONObject", "JSONValue", #"{\""#, "@unchecked", "Continuation", "nonisolated(unsafe)"] {
      #expect(!text.contains(word), "\(name) has \(word)")
    }
    #expect(text.split(separator: "\n").filter { $0.hasPrefix("import ") } == ["import Tureen"])
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count < 120, "a page of a tutorial")
  }
}
