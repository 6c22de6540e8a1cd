import Foundation
import Testing

/// The example of bridge-spec/parse.md does what the page says: a script against the sandbox's own Parse server.
@Suite(.timeLimit(.minutes(5))) struct ParsePageTests {
  private let page: MarkdownPage

  init() throws { page = try MarkdownPage("bridge-spec/parse.md") }

  @Test func script_printsWhatTheParsePageShows() async throws {
    let place = try Workplace(), ended = try await place.runScript(try place.write(page.texts("lua").joined(), to: "page.lua"))
    #expect(ended.status == 0 && ended.output == page.texts("text").joined(), "\(ended)")
  }

  /// A connection of `connections.json`, whose secret is read from the environment, and a typo in a target.
  @Test func connectionsFile_ofTheKindParse_isUsed() async throws {
    let place = try Workplace(), sandbox = try await Sandbox(place, options: ["--contacts", "1", "--accounts", "1"])
    let kept =
      try JSONSerialization.jsonObject(
        with: Data(contentsOf: URL(fileURLWithPath: place.home + "/sandbox/serving.json"))) as? [String: Any]
    let told = try #require(kept?["parse"] as? [String: String]), key = try #require(told["restAPIKey"])
    try place.write(key + "\n", to: "key")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: place.path + "/key")
    try place.write(
      """
      {"default": {"kind": "parse", "serverURL": "\(told["url"] ?? "")", "applicationId": "library",
        "restAPIKey": {"file": "key"}}}
      """, to: "connections.json")
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.main(function()
        local await, mobilesync = tureen.await, tureen.mobilesync
        assert(await(tureen.smartstore.registerSoup, "genres", { { path = "objectId", type = "string" } }))
        local sync = assert(await(mobilesync.syncDown, { type = "parse", className = "Genre" }, "genres", {}, "genres"))
        print(sync.status, sync.stored)
        local _, err = await(mobilesync.syncDown, { type = "parse", classname = "Genre" }, "genres", {}, "typo")
        print(err.domain, err.code, err.message)
      end)
      """, to: "script.lua")
    let ended = try await place.runScript(script)
    #expect(
      ended.output == "DONE\t40\nsync\tinvalidTarget\tparse target: 'classname' is not known here; did you mean 'className'?\n",
      "\(ended)")
    sandbox.child.send(SIGINT)
    _ = await sandbox.child.ended()
  }
}
