import Foundation
import JSON
import Testing

/// `tureen init`: a project that works with the sandbox org as it is.
@Suite(.timeLimit(.minutes(60))) struct InitCommandTests {
  @Test func init_project_runsAndSyncs() async throws {
    let place = try Workplace()
    let ended = try await place.run(Built.tureen, ["init", "a/new/project"])
    #expect(ended.status == 0 && ended.output.split(separator: "\n").count == 5, "\(ended)")
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
