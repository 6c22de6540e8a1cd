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
}
