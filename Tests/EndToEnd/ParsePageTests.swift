import Foundation
import Testing

/// Tests the statements of bridge-spec/guide/parse.md. `GuideExamplesTests` runs its script.
@Suite(.timeLimit(.minutes(60))) struct ParsePageTests {
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
