import Foundation
import Glibc
import JSON
import Testing

/// Tests the forge next to the org: how `tureen sandbox` announces it, and how commands find it.
@Suite struct ServedForgeTests {
  private static let asks = """
    local tureen = require "tureen"
    tureen.async(function()
      local sandbox = require "tureen.sandbox"
      local told = tureen.await(sandbox.forge)
      print(told.url:match("/api/v3$"), told.tokens.ada:sub(1, 4), told.links)
      print(tureen.await(sandbox.forge, { links = "ids" }).links)
      local _, refused = tureen.await(sandbox.forge, { links = "sideways" })
      print(refused.domain, refused.code)
    end)
    """

  @Test func servedForge_isPrintedKeptAndAnswers() async throws {
    let place = try Workplace()
    let options = ["--contacts", "1", "--accounts", "1", "--forge", "links=path linkQuotes=false"]
    let sandbox = try await Sandbox(place, options: options + ["--fault", "emptyPage path=/api/v3/orgs/acme/repos nth=2"])
    let kept = try JSONValue(parsing: Array(Data(contentsOf: URL(fileURLWithPath: place.home + "/sandbox/serving.json"))))
    let url = sandbox.url + "/api/v3", token = try #require(kept["forge"]?["token"]?.stringValue)
    #expect(kept["forge"]?["url"] == .string(url))
    #expect(sandbox.child.printed.contains("Forge (as GitHub's REST API) at \(url)\n  token of ada   \(token)\n"))
    let curl = ["-sSi", "-H", "Authorization: Bearer \(token)", url + "/orgs/acme/repos?per_page=2"]
    let page = try await place.run("/usr/bin/curl", curl)
    #expect(page.output.contains("</api/v3/orgs/acme/repos?per_page=2&page=2>; rel=next"), "\(page)")
    #expect(page.output.contains("\"full_name\":\"acme/"))
    let empty = try await place.run("/usr/bin/curl", curl)
    #expect(empty.output.hasSuffix("\r\n\r\n[]"), "\(empty)")
    let run = try await place.runScript(try place.write(Self.asks, to: "script.lua"))
    #expect(run.output == "/api/v3\tghp_\tpath\nids\nbridge\tinvalidArguments\n", "\(run)")
    sandbox.child.send(SIGINT)
    #expect(await sandbox.child.ended().status == 0)
    #expect(try Data(contentsOf: URL(fileURLWithPath: place.home + "/sandbox/serving.json")).isEmpty)
  }

  @Test func run_withoutAServedSandbox_hasAForgeOfItsOwn() async throws {
    let place = try Workplace()
    let run = try await place.runScript(try place.write(Self.asks, to: "script.lua"))
    #expect(run.status == 0 && run.output == "/api/v3\tghp_\tabsolute\nids\nbridge\tinvalidArguments\n", "\(run)")
  }

  @Test func forgeOption_thatCannotBe_isRefusedBeforeTheStart() async throws {
    let place = try Workplace()
    for (words, part) in [
      ("links=sideways", "argument 'links' must be one of absolute, path, query, ids, none"),
      ("lnks=path", "'lnks' is not a setting"),
      ("links", "must have the form name=value"), ("largestPage=many", "argument 'largestPage' must be an integer, 1 to 1000"),
    ] {
      let ended = try await place.run(Built.tureen, ["sandbox", "--home", place.home, "--forge", words])
      #expect(ended.status == 64 && ended.errors.contains(part), "\(words): \(ended.errors)")
    }
  }
}
