import Testing

/// Tests `scripts/two_way.lua` as a new user runs it.
@Suite struct TwoWayTests {
  @Test func twoWay_twice_bringsBothSidesTogether() async throws {
    let place = try Workplace()
    let script = Built.package.path + "/scripts/two_way.lua"
    for _ in 0..<2 {
      let ended = try await place.runScript(script)
      #expect(ended.status == 0 && ended.complaints == "", "\(ended.errors)")
      for line in [
        "up        3 of 4: 3 sent, 3 merged, 1 in conflict", "on the server", "(field Email)", "keeps here",
        "up        1 of 1: 1 sent", "done      0 conflicts left; both sides are equal: true",
      ] {
        #expect(ended.output.contains(line), "\(line) is missing in:\n\(ended.output)")
      }
    }
  }

  /// Calls the sample's resolver and its listener with each kind of conflict.
  @Test func twoWay_resolver_decidesOrSkipsEachKind() async throws {
    let place = try Workplace()
    let check = try place.write(
      """
      local tureen = require "tureen"
      local resolve, listen
      tureen.mobilesync.registerResolver = function(_, fn) resolve = fn end
      tureen.document.addEventListener = function(_, fn) listen = fn end
      tureen.main = function() end
      dofile "\(Built.package.path)/scripts/two_way.lua"
      local here = { LastName = "Adam", Title = "a", Phone = "1", Email = "x" }
      local there = { Title = "b", Phone = "2", Email = "y" }
      for _, kind in ipairs { "changed", "deletedHere", "deletedThere", "unknown" } do
        local isKnown = kind == "changed" or kind == "deletedHere"
        local conflict = {
          kind = kind, ["local"] = here, server = isKnown and there or tureen.null, base = tureen.null,
          merged = { Title = "a" }, fields = kind == "changed" and { "Title", "Phone" } or tureen.array(),
        }
        listen { detail = conflict }
        local answer = resolve(conflict)
        print(kind, type(answer) == "table" and answer.Title .. ", " .. answer.Phone or answer)
      end
      """, to: "check.lua")
    let ended = try await place.runScript(check)
    #expect(ended.status == 0, "\(ended.errors)")
    for line in ["changed\tb, 2 / 1", "deletedHere\tskip", "deletedThere\tskip", "unknown\tskip"] {
      #expect(ended.output.contains(line), "\(line) is missing in:\n\(ended.output)")
    }
  }
}
