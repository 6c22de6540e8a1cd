local tureen = require "tureen"
local harness = require "harness"
local logger = require "com.salesforce.util.logger"
local exec = require "com.salesforce.util.exec"
local status = require "com.salesforce.util.event"

local case, same = harness.case, harness.same
local tests = {}

function tests.test_both_names_give_one_module()
  local pairs_of_names = {
    ["tureen.logger"] = "com.salesforce.util.logger", ["tureen.exec"] = "com.salesforce.util.exec",
    ["tureen.event"] = "com.salesforce.util.event", ["tureen.promiser"] = "com.salesforce.util.promiser",
    ["tureen.bootstrap"] = "com.salesforce.util.bootstrap",
    ["tureen.smartstore.client"] = "com.salesforce.plugin.smartstore.client",
    ["tureen.smartstore"] = "com.salesforce.plugin.smartstore", ["tureen.mobilesync"] = "com.salesforce.plugin.mobilesync",
    ["tureen.network"] = "com.salesforce.plugin.network", ["tureen.sdkinfo"] = "com.salesforce.plugin.sdkinfo",
  }
  for short, long in pairs(pairs_of_names) do same(require(short) == require(long), true, long) end
  same(tureen.force == require "tureen.force", true)
end

function tests.test_named_parameters_are_redacted()
  local cases = {
    { "https://h/p?a=1&Token=x&b=2", "token", "https://h/p?a=1&Token=[redacted]&b=2" },
    { "https://h/p#access_token=x&y=2", { "access_token", "y" }, "https://h/p#access_token=[redacted]&y=[redacted]" },
    { "https://h/p?tokens=x", { "token" }, "https://h/p?tokens=x" }, { "https://h/p", { "a" }, "https://h/p" },
    { "?a=", { "A" }, "?a=[redacted]" },
  }
  for _, row in ipairs(cases) do same(logger.sanitizeUrlParamsForLogging(row[1], row[2]), row[3]) end
  harness.raises("sanitizeUrlParamsForLogging: argument 1 'url' must be a string, got nil",
    logger.sanitizeUrlParamsForLogging)
end

function tests.test_log_level_is_kept_and_checked()
  same(logger.getLogLevel(), "info")
  logger.setLogLevel "error"
  logger.logToConsole "not shown"
  same(logger.getLogLevel(), "error")
  logger.setLogLevel "info"
  harness.raises("setLogLevel: argument 1 'level' must be error, warn, info or debug, got 'loud'",
    logger.setLogLevel, "loud")
end

function tests.test_exec_puts_the_version_in_front_and_takes_both_forms()
  local args = { { soupName = "nowhere" } }
  exec.exec("14.0.0", harness.expect(function(found) same(found, false) end), harness.never(),
    "com.salesforce.smartstore", "pgSoupExists", args)
  exec("14.0.0", harness.expect(function(found) same(found, false) end), nil,
    "com.salesforce.smartstore", "pgSoupExists", { soupName = "nowhere" })
  same(#args, 1, "the caller's list")
  same(exec.timing, false)
  harness.raises("exec: argument 1 'pluginVersion' must be a string, got nil", exec.exec)
end

function tests.test_status_event_has_its_fields_in_detail()
  tureen.once("bootstrapStatusEvent", harness.expect(function(detail)
    same(detail, { code = 2, description = "Your device is offline. Can't continue.", isError = true })
  end))
  status.sendStatusEvent(status.EVENT.OFFLINE)
end

tests.test_org_that_answers_means_online = case(function()
  same(require("com.salesforce.util.bootstrap").deviceIsOnline(), true)
end)

tests.test_store_client_waits_and_gives_values = case(function()
  local client = require "com.salesforce.plugin.smartstore.client"
  same(client.registerSoup("util_client", { { path = "Id", type = "string" } }), "util_client")
  same(client.upsertSoupEntries("util_client", { { Id = "1" } })[1].Id, "1")
  same(client.querySoup("util_client", client.buildExactQuerySpec("Id", "1")).totalEntries, 1)
  local value, err = client.getSoupIndexSpecs "util_nowhere"
  same({ value == nil, err.code }, { true, "noSuchSoup" })
  same(client.removeSoup "util_client", "OK")
end)

harness.run(tests)
