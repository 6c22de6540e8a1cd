import Testing

/// Tests that many calls of the bridge do not leak memory.
@Suite struct RoundTripTests {
  /// Runs in a separate process, so that the memory of other tests does not count.
  @Test func exec_hundredThousandRoundTrips_memoryStaysFlat() async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      local function memory()
        collectgarbage() collectgarbage()
        local file <close> = assert(io.open("/proc/self/statm"))
        return collectgarbage("count"), tonumber(file:read("a"):match("^%d+ (%d+)")) * 4
      end
      local function trips(count)
        local begun, ended = 0, 0
        local function begin(callback)
          begun = begun + 1
          tureen.exec(callback, error, "com.salesforce.sdkinfo", "registerAppFeature", { feature = "AB" })
        end
        local function callback()
          ended = ended + 1
          if begun < count then begin(callback) end
        end
        for _ = 1, 200 do begin(callback) end
        assert(tureen.run() and ended == count)
      end
      trips(20000)
      local lua, process = memory()
      trips(100000)
      local lua_after, process_after = memory()
      print(("%d %d"):format(math.ceil(lua_after - lua), process_after - process))
      """, to: "trips.lua")
    let ended = try await place.runScript(script)
    let growth = ended.output.split(whereSeparator: { $0 == " " || $0 == "\n" }).compactMap { Int($0) }
    try #require(ended.status == 0 && growth.count == 2, "\(ended)")
    // In KB; 20 bytes per round trip would be 2,000 KB.
    #expect(growth[0] < 64, "in Lua")
    #expect(growth[1] < 1500, "in the process")
  }
}
