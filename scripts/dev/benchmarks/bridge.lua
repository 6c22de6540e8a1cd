-- The host's part of `bench --bridge`: what a call of the bridge costs, and whether many of them leave anything behind.
--
-- usage: bridge.lua TRIPS. Started by scripts/dev/bench, which builds the modules benchclock and crossing.
local tureen = require "tureen"
local clock = require "benchclock"
local crossing = require "crossing"

local TRIPS, IN_FLIGHT = math.tointeger(tonumber((...))) or 1000000, 1000
local ID = "003Dn0000000001AAA"
-- Nanoseconds of a call of a C function on the machine the targets were set on. They are scaled to this one.
local REFERENCE = 13.3

local function line(name, format, value, target, is_met)
  local verdict = target and ("   %s (%s)"):format(target, is_met and "met" or "MISSED") or ""
  print(("%-52s %12s%s"):format(name, format:format(value), verdict))
end

--- Nanoseconds of one call of `fn`, the loop around it not counted; the median of five.
local function nanoseconds(fn, argument)
  local count, times = 2000000, {}
  for round = 1, 5 do
    local from = clock.now()
    for _ = 1, count do fn(argument) end
    local called = clock.now()
    for _ = 1, count do end -- luacheck: ignore
    times[round] = (called - from - (clock.now() - called)) / count * 1e9
  end
  table.sort(times)
  return times[3]
end

--- Bytes of memory the process has now.
local function resident()
  local file <close> = assert(io.open("/proc/self/statm"))
  return tonumber(file:read("a"):match("^%d+ (%d+)")) * 4096
end

--- An action of ours that does nothing, and one of a plug-in of the script.
local OURS, PLUGIN = { "com.salesforce.sdkinfo", "registerAppFeature" }, { "com.acme.bench", "registerAppFeature" }
tureen.plugin(PLUGIN[1], { registerAppFeature = function(_, success) success "OK" end })

--- Trips to an action that does nothing and back to the callback, so many under way at once. Calls `at` now and then.
local function round_trips(whose, count, in_flight, at)
  local begun, ended = 0, 0
  local args = { feature = "BENCH" }
  local function begin(callback)
    begun = begun + 1
    tureen.exec(callback, error, whose[1], whose[2], args)
  end
  local function callback()
    ended = ended + 1
    if ended % 100000 == 0 and at then at(ended) end
    if begun < count then begin(callback) end
  end
  local from = clock.now()
  for _ = 1, math.min(in_flight, count) do begin(callback) end
  assert(tureen.run())
  assert(ended == count)
  return count / (clock.now() - from)
end

local plain = nanoseconds(crossing.nothing, 1)
local integer, text = nanoseconds(crossing.integer, 1), nanoseconds(crossing.text, ID)
local slowness = plain / REFERENCE
line("C function, integer in and out", "%.1f ns", plain)
print(("(targets are for a machine where that takes %.1f ns: times %.2f here)"):format(REFERENCE, slowness))
line("crossing into Swift and back, integer", "%.1f ns", integer, "under 30", integer < 30 * slowness)
line("crossing into Swift and back, 18-byte text", "%.1f ns", text, "under 60", text < 60 * slowness)

--- Makes a million calls; tells the rate, one at a time as well, and whether they leave memory behind.
--- @return number microseconds of a call with many under way
local function measure(what, whose, target)
  round_trips(whose, 100000, IN_FLIGHT)
  local early, late
  local rate = round_trips(whose, TRIPS, IN_FLIGHT, function(ended)
    if not early then
      collectgarbage()
      early = resident()
    end
    if ended == TRIPS then
      collectgarbage()
      late = resident()
    end
  end)
  line(("%s to its callback, %d under way"):format(what, IN_FLIGHT), "%.0f /s", rate, target and "at least 200,000",
    target and rate >= target)
  line(what .. " to its callback, one at a time", "%.0f /s", round_trips(whose, TRIPS // 10, 1))
  if early and late then
    local growth = (late - early) / 1024
    line(("memory after %d trips, beyond that after 100,000"):format(TRIPS), "%.0f KB", growth, "flat", growth < 1024)
  end
  return 1e6 / rate
end

local ours = measure("exec", OURS, 200000 / slowness)
local plugin = measure("exec of a plug-in", PLUGIN)
line("a call of a plug-in beside one of ours", "%.2f times", plugin / ours, "at most 1.30", plugin / ours <= 1.3)
