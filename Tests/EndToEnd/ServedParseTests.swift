import Foundation
import Glibc
import JSON
import Testing

/// Tests the Parse server next to the org: how `tureen sandbox` announces it, and how commands find it.
@Suite struct ServedParseTests {
  private static let asks = """
    local tureen = require "tureen"
    tureen.async(function()
      local sandbox = require "tureen.sandbox"
      local told = tureen.await(sandbox.parse)
      print(told.url:match("/parse$"), told.applicationId, #told.restAPIKey > 20, told.maxLimit)
      print(tureen.await(sandbox.parse, { maxLimit = 7 }).maxLimit)
      local _, refused = tureen.await(sandbox.parse, { maxLimt = 7 })
      print(refused.domain, refused.code)
    end)
    """

  @Test func servedParse_isPrintedKeptAndAnswers() async throws {
    let place = try Workplace()
    let options = ["--contacts", "1", "--accounts", "1", "--parse", "maxLimit=3"]
    let sandbox = try await Sandbox(place, options: options + ["--fault", "loweredLimit limit=1 path=/parse/classes/Book nth=2"])
    let kept = try JSONValue(parsing: Array(Data(contentsOf: URL(fileURLWithPath: place.home + "/sandbox/serving.json"))))
    let url = sandbox.url + "/parse", told = try #require(kept["parse"]), key = try #require(told["restAPIKey"]?.stringValue)
    #expect(told["url"] == .string(url) && told["applicationId"] == "library" && told["masterKey"] == nil)
    #expect(sandbox.child.printed.contains("Parse server at \(url)\n  application id  library\n  REST API key    \(key)\n"))
    let headers = ["-H", "X-Parse-Application-Id: library", "-H", "X-Parse-REST-API-Key: \(key)"]
    var counts: [Int] = []
    for _ in 0..<2 {
      let page = try await place.run("/usr/bin/curl", ["-sS"] + headers + [url + "/classes/Book?limit=50"])
      counts.append(try JSONValue(parsing: page.output)["results"]?.arrayValue?.count ?? -1)
    }
    #expect(counts == [3, 1], "the setting, then the fault")
    let run = try await place.runScript(try place.write(Self.asks, to: "script.lua"))
    #expect(run.output == "/parse\tlibrary\ttrue\t3\n7\nbridge\tinvalidArguments\n", "\(run)")
    sandbox.child.send(SIGINT)
    #expect(await sandbox.child.ended().status == 0)
  }

  @Test func run_withoutAServedSandbox_hasAParseServerOfItsOwn() async throws {
    let place = try Workplace()
    let run = try await place.runScript(try place.write(Self.asks, to: "script.lua"))
    #expect(run.status == 0 && run.output == "/parse\tlibrary\ttrue\t0\n7\nbridge\tinvalidArguments\n", "\(run)")
  }

  @Test func parseOption_thatCannotBe_isRefusedBeforeTheStart() async throws {
    let place = try Workplace()
    for (words, part) in [
      ("maxLimt=3", "'maxLimt' is not a setting"), ("maxLimit", "must have the form name=value"),
      ("maxLimit=many", "argument 'maxLimit' must be an integer"),
    ] {
      let ended = try await place.run(Built.tureen, ["sandbox", "--home", place.home, "--parse", words])
      #expect(ended.status == 64 && ended.errors.contains(part), "\(words): \(ended.errors)")
    }
  }
}
