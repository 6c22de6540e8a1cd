--- Tests timers, sleeping and waiting for events. The host is that of callbacks_test.lua.
local tureen = require "tureen"
local harness = require "harness"
local same, raises, expect, never = harness.same, harness.raises, harness.expect, harness.never
local async = tureen.async

local tests = {}

function tests.test_timers_run_in_the_order_they_are_due()
  local order = {}
  for _, ms in ipairs { 9, 1, 5, 3, 0, 7 } do
    local timer
    timer = tureen.after(ms, expect(function() order[#order + 1] = timer.at end))
  end
  same(tureen.pending(), 6)
  tureen.run()
  for i = 2, #order do same(order[i - 1] <= order[i], true) end
end

function tests.test_timers_due_at_the_same_time_run_in_the_order_they_came()
  local order = {}
  for i = 1, 50 do tureen.after(0, function() order[#order + 1] = i end) end
  tureen.run()
  for i = 1, 50 do same(order[i], i) end
end

function tests.test_cancelled_timers_do_not_run()
  local timers, ran = {}, 0
  for i = 1, 100 do timers[i] = tureen.after(i % 7, function() ran = ran + 1 end) end
  for i = 1, 100, 2 do timers[i]:cancel() end
  timers[1]:cancel()
  same(tureen.pending(), 50)
  tureen.run()
  same(ran, 50)
  timers[2]:cancel()
end

function tests.test_cancelled_by_one_that_is_due_too()
  local second
  tureen.after(0, function() second:cancel() end)
  second = tureen.after(0, never("a cancelled timer"))
  while tureen.pending() > 0 do tureen.poll(100) end
end

function tests.test_descriptor_is_the_same_before_and_after_a_timer()
  local fd = tureen.fd()
  tureen.after(0, expect())
  same(tureen.fd(), fd)
end

function tests.test_error_in_a_timer_disturbs_nobody()
  local errors = {}
  tureen.onerror = function(err) errors[#errors + 1] = err end
  tureen.after(0, function() error("broken", 0) end)
  tureen.after(0, expect())
  tureen.run()
  same(errors, { "broken" })
end

function tests.test_timer_set_by_a_timer_waits_for_a_later_poll()
  local order = {}
  tureen.after(0, function()
    order[#order + 1] = 1
    tureen.after(0, function() order[#order + 1] = 3 end)
  end)
  tureen.after(0, function() order[#order + 1] = 2 end)
  tureen.run()
  same(order, { 1, 2, 3 })
end

function tests.test_sleepers_wake_up()
  local woken = {}
  for _, ms in ipairs { 6, 2, 4 } do
    async(function()
      same(tureen.sleep(ms), true)
      woken[ms] = true
    end)
  end
  same(woken, {})
  tureen.run()
  same(woken[2] and woken[4] and woken[6], true)
end

function tests.test_cancelled_sleep_ends_at_once()
  local task = async(expect(function()
    local done, err = tureen.sleep(1e12)
    same(done, nil)
    same(err.code, "cancelled")
  end))
  task:cancel()
  tureen.run()
end

function tests.test_wait_event_takes_the_first_that_fits()
  local finish = expect()
  async(function()
    local waiting = async(function()
      return tureen.waitEvent("bootstrapStatusEvent", function(detail) return detail.isError end)
    end)
    for code = 0, 3 do tureen.event.sendStatusEvent { code = code, description = "", isError = code >= 2 } end
    same(tureen.await(waiting).code, 2)
    finish()
  end)
end

function tests.test_wait_event_gives_up()
  async(expect(function()
    local detail, err = tureen.waitEvent("never", nil, 1)
    same(detail, nil)
    same(err.code, "timeout")
    same(err.message, "no event 'never' within 1 ms")
  end))
end

function tests.test_misuse()
  raises("after: argument 1 'ms' must be a number of milliseconds, 0 or more, got -1", tureen.after, -1, print)
  raises("after: argument 1 'ms' must be a number of milliseconds, 0 or more, got NaN", tureen.after, 0 / 0, print)
  raises("after: argument 2 'fn' must be a function, got nil", tureen.after, 1)
end

harness.run(tests)
