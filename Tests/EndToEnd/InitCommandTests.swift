import Foundation
import JSON
import Testing

/// `tureen init`: a project that works with the sandbox org as it is.
@Suite(.timeLimit(.minutes(60))) struct InitCommandTests {
  @Test func init_project_runsAndSyncs() async throws {
    let place = try Workplace()
    let ended = try await place.run(Built.tureen, ["init", "a/new/project"])
    #expect(ended.status == 0 && ended.output.split(separator: "\n").count == 6, "\(ended)")
    let ran = try await place.run(
      "/bin/sh", ["-c", #"cd a/new/project && "$0" run --home "$1" main.lua Silva"#, Built.tureen, place.home])
    #expect(ran.status == 0 && ran.complaints == "" && ran.output.contains(" of "), "\(ran)")
    let synced = try await place.run(
      "/bin/sh", ["-c", #"cd a/new/project && "$0" sync --home "$1" --all"#, Built.tureen, place.home])
    #expect(
      synced.status == 0 && synced.output.contains("contactsUp: DONE") && synced.output.contains("contactsDown: DONE"),
      "\(synced)")
    let settings = try JSONValue(
      parsing: try String(contentsOfFile: place.path + "/a/new/project/.luarc.json", encoding: .utf8))
    let library = try #require(settings["workspace"]?["library"]?.arrayValue?.first?.stringValue)
    #expect(FileManager.default.fileExists(atPath: library + "/tureen.lua"))
  }

  /// A language server takes these in place of the strings of the library.
  @Test func init_definitions_nameTheProject() async throws {
    let place = try Workplace(), file = place.path + "/p/definitions.lua"
    _ = try await place.run(Built.tureen, ["init", "p"])
    let made = try String(contentsOfFile: file, encoding: .utf8)
    #expect(made.hasPrefix("---@meta") && made.contains("---@alias tureen.SoupName\n---| string\n---| \"contacts\"\n"), "\(made)")
    #expect(made.contains("---| \"LastName\"\n") && made.hasSuffix("---| \"contactsDown\"\n---| \"contactsUp\"\n"), "\(made)")
    let library = try String(contentsOfFile: Built.package.path + "/bridge-spec/library/tureen.lua", encoding: .utf8)
    for name in ["SoupName", "IndexPath", "SyncName"] {
      #expect(library.contains("---@alias tureen.\(name) string\n") && made.contains("---@alias tureen.\(name)\n"), "\(name)")
    }

    let soups = #"{"soups": [{"soupName": "visits", "indexes": [{"path": "Account.Name"}]}, {"soupName": "a\"b"}]}"#
    try place.write(soups, to: "p/userstore.json")
    let again = try await place.run(Built.tureen, ["init", "--definitions", "p"])
    #expect(again.status == 0 && again.output == "p/definitions.lua\n", "\(again)")
    let changed = try String(contentsOfFile: file, encoding: .utf8)
    #expect(
      changed.contains("---| string\n---| \"visits\"\n\n") && changed.contains("---| \"Account.Name\"\n")
        && !changed.contains("---| \"contacts\"\n"), "\(changed)")

    try place.write("{", to: "p/usersyncs.json")
    let broken = try await place.run(Built.tureen, ["init", "--definitions", "p"])
    #expect(broken.status == 78 && broken.errors.contains("p/usersyncs.json:1: "), "\(broken)")
    let none = try await place.run(Built.tureen, ["init", "--definitions"])
    #expect(none.status == 66 && none.errors.contains("neither userstore.json nor usersyncs.json"), "\(none)")
  }

  @Test func init_fileThatIsThere_isNeverOverwritten() async throws {
    let place = try Workplace()
    try place.write("mine", to: "userstore.json")
    let ended = try await place.run(Built.tureen, ["init"])
    #expect(
      ended.status == 1 && ended.output == "" && ended.errors.contains("already has userstore.json; nothing was written"),
      "\(ended)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["userstore.json"])
    let under = try await place.run(Built.tureen, ["init", "userstore.json/sub"])
    #expect(under.status == 1 && under.errors.contains("cannot be written: Not a directory"), "\(under)")
  }
}
