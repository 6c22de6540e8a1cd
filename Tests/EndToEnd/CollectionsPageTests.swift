import Foundation
import TestSupport
import Testing

/// The JSON targets of bridge-spec/guide/collections.md work. `GuideExamplesTests` runs its script.
@Suite(.timeLimit(.minutes(60))) struct CollectionsPageTests {
  private let page: MarkdownPage

  init() throws { page = try MarkdownPage("bridge-spec/guide/collections.md") }

  /// A blog with five posts by page number and a search service with five rows behind a cursor.
  private func server() throws -> ScriptedServer {
    try ScriptedServer(handler: { request in
      func rows(_ page: Int) -> String {
        (page * 2 - 1...min(5, page * 2)).map { #"{"id":\#($0),"modified_gmt":"2026-11-2\#($0)T10:00:00"}"# }
          .joined(separator: ",")
      }
      if request.method == "POST", request.path == "/v1/databases/d1/query" {
        let page = [2, 3].first { request.text.contains("\"start_cursor\":\"c\($0)\"") } ?? 1
        let next = page < 3 ? "\"c\(page + 1)\"" : "null"
        return .json("{\"results\":[\(rows(page))],\"next_cursor\":\(next),\"has_more\":\(page < 3)}")
      }
      guard request.path == "/wp/v2/posts", request.query.contains("per_page=2"), request.query.contains("order=asc"),
        let page = (1...9).first(where: { "&\(request.query)&".contains("&page=\($0)&") })
      else { return .status(404) }
      return page > 3
        ? .json(#"{"code":"rest_post_invalid_page_number"}"#, status: 400)
        : .json("[\(rows(page))]", headers: [("X-WP-Total", "5")])
    })
  }

  @Test func targets_bringEveryRowOnce() async throws {
    let server = try server(), place = try Workplace()
    try place.write(#"{"blog": {"baseURL": "\#(server.url)"}}"#, to: "connections.json")
    let targets = page.blocks(in: "json").map(\.text)
    #expect(targets.count == 2)
    for (i, target) in targets.enumerated() {
      try place.write(target, to: "target.json")
      let script = try place.write(
        """
        local tureen = require "tureen"
        tureen.main(function()
          local file <close> = assert(io.open("target.json"))
          local target, soup = assert(tureen.json.decode(file:read "a")), "rows\(i)"
          assert(tureen.await(tureen.smartstore.registerSoup, soup, { { path = "id", type = "string" } }))
          local sync = assert(tureen.await(tureen.mobilesync.syncDown, target, soup, {}, soup))
          print(sync.status, sync.stored, sync.incomplete)
        end)
        """, to: "script.lua")
      let ended = try await place.runScript(script)
      #expect(ended.output == "DONE\t5\tfalse\n", "\(target)\(ended)")
    }
  }
}
