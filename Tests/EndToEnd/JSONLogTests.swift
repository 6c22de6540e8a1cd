import Foundation
import JSON
import TestSupport
import Testing

/// Tests `TUREEN_LOG_FORMAT=json`: each line parses, and the facts are those of the text.
@Suite(.timeLimit(.minutes(60))) struct JSONLogTests {
  private static let json = ["TUREEN_LOG_FORMAT": "json"]

  private func project(_ sync: String = JSONLogTests.org) throws -> Workplace {
    let place = try Workplace()
    try place.write(
      #"{"soups": [{"soupName": "c", "indexes": [{"path": "Id", "type": "string"}, {"path": "id", "type": "string"}]}]}"#,
      to: "userstore.json")
    try place.write(#"{"syncs": [\#(sync)]}"#, to: "usersyncs.json")
    return place
  }

  private static let org = """
    {"syncName": "down", "syncType": "syncDown", "soupName": "c",
     "target": {"type": "soql", "query": "SELECT Id, LastName, LastModifiedDate FROM Contact LIMIT 7"}}
    """

  private func tureen(_ place: Workplace, _ words: [String], _ environment: [String: String]) async throws -> Child.Ended {
    try await Child(
      Built.tureen, [words[0], "--home", place.home] + words.dropFirst(), environment: environment, in: place.path
    ).ended()
  }

  /// Every line as an object with the members that all lines have.
  private func lines(_ text: String) throws -> [JSONValue] {
    try text.split(separator: "\n").map { line in
      let object = try JSONValue(parsing: String(line))
      for key in ["time", "level", "label", "message"] {
        #expect(object[key]?.stringValue?.isEmpty == false, "\(key): \(line)")
      }
      return object
    }
  }

  @Test func row25_logOfASync_hasTheFactsOfTheText() async throws {
    let place = try project(), level = ["TUREEN_LOG": "info"]
    let text = try await tureen(place, ["sync", "down"], level)
    let again = try project()
    let json = try await tureen(again, ["sync", "down"], level.merging(Self.json) { $1 })
    #expect(text.status == 0 && json.status == 0, "\(text) \(json)")
    let line = try #require(text.errors.split(separator: "\n").first { $0.contains("[MobileSync] sync done") })
    let objects = try lines(json.errors)
    let done = try #require(objects.first { $0["message"] == "sync done" })
    #expect(done["label"] == "tureen.sync" && done["level"] == "info" && done["ms"]?.integerValue != nil, "\(done)")
    for word in line.split(separator: " ") where word.contains("=") {
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      let value = done[parts[0]].map { $0.stringValue ?? $0.text }
      #expect(value == parts[1] || ["ms", "bytes"].contains(parts[0]) && value != nil, "\(word): \(done)")
    }
  }

  @Test(arguments: ["info", "debug"]) func row25_requestLog_hasTheFactsOfTheText(level: String) async throws {
    let place = try project(), option = "--log-requests=\(level)"
    let text = try await tureen(place, ["sync", option, "down"], [:])
    let json = try await tureen(try project(), ["sync", option, "down"], Self.json)
    let summaries = text.errors.split(separator: "\n").filter { $0.contains(" request ") && !$0.hasPrefix(" ") }
    let objects = try lines(json.errors).filter { $0["label"] == "tureen.requests" }
    #expect(objects.count == summaries.count && !objects.isEmpty, "\(text.errors)\n\(json.errors)")
    for (line, object) in zip(summaries, objects) {
      let words = line.split(separator: " ").map(String.init)
      // 2026-11-23T08:46:02.125Z request 1 org GET https://… 200 12 ms 300 bytes bypass
      #expect(words[2] == object["request"]?.text && words[3] == object["connection"]?.stringValue, "\(line) \(object)")
      #expect(words[4] == object["method"]?.stringValue && words[6] == object["status"]?.text, "\(line) \(object)")
      #expect(object["message"]?.stringValue?.hasPrefix("request \(words[2]) ") == true)
      #expect((object["responseHeaders"]?.arrayValue?.isEmpty == false) == (level == "debug"))
    }
    let secret = try #require(text.errors.isEmpty ? nil : "Bearer ")
    for object in objects {
      for header in object["requestHeaders"]?.arrayValue?.compactMap(\.stringValue) ?? [] where header.contains(secret) {
        #expect(header.contains("…"), "\(header)")
      }
    }
  }

  @Test func row25_requestLogFile_isJSON() async throws {
    let place = try project(), file = place.path + "/requests.log"
    let variables = ["TUREEN_LOG_REQUESTS": "info", "TUREEN_LOG_REQUESTS_FILE": file]
    let ended = try await tureen(place, ["sync", "down"], variables.merging(Self.json) { $1 })
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(try ended.status == 0 && lines(text).allSatisfy { $0["label"] == "tureen.requests" } && !text.isEmpty, "\(ended)")
  }

  /// Failures of syncs, files, usage and arguments, and what the command says itself.
  @Test(arguments: [
    (["sync", "dwon"], "error"), (["sync"], "error"), (["sync", "--nothing"], "error"), (["snyc"], "error"),
    (["sync", "--org", "nowhere", "down"], "error"), (["query", "SELECT"], "error"),
    (["exec", "smartstore", "soupExists", "{}"], "error"), (["run", "missing.lua"], "error"), (["store", "list"], "notice"),
  ])
  func row25_messagesOfCommands_areLinesThatParse(words: [String], level: String) async throws {
    let place = try project()
    if words == ["store", "list"] {
      let ended = try await Child(Built.tureen, words + ["--home", place.home], environment: Self.json, in: place.path).ended()
      return #expect(try lines(ended.errors).map { $0["level"]?.stringValue } == [level], "\(ended)")
    }
    let ended = try await tureen(place, words, Self.json)
    let objects = try lines(ended.errors)
    #expect(!objects.isEmpty && objects.allSatisfy { $0["level"]?.stringValue == level }, "\(ended)")
    #expect(objects.allSatisfy { $0["label"] == "tureen.command" }, "\(ended)")
  }

  @Test func row25_failedConnection_isALineThatParses() async throws {
    let target = #""target": {"type": "rest", "connection": "api", "path": "/things", "list": {"path": "/things"}}"#
    let place = try project(#"{"syncName": "down", "syncType": "syncDown", "soupName": "c", \#(target)}"#)
    let ended = try await tureen(place, ["sync", "down"], Self.json.merging(["TUREEN_LOG": "trace"]) { $1 })
    #expect(try ended.status != 0 && !lines(ended.errors).isEmpty, "\(ended)")
  }

  @Test func logFormat_notKnown_is78() async throws {
    let ended = try await tureen(try project(), ["dirty"], ["TUREEN_LOG_FORMAT": "jsno"])
    #expect(ended.status == 78, "\(ended)")
    #expect(
      ended.errors == "tureen: TUREEN_LOG_FORMAT: 'jsno' is not a format; give text or json; did you mean 'json'?\n", "\(ended)")
  }

  @Test func logFormat_text_isTheDefault() async throws {
    let place = try project()
    let plain = try await tureen(place, ["sync", "dwon"], [:])
    let named = try await tureen(place, ["sync", "dwon"], ["TUREEN_LOG_FORMAT": "TEXT"])
    #expect(plain.errors == named.errors && plain.errors.hasPrefix("tureen: "), "\(named)")
  }
}
