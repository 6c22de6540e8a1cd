--- Tests that answers of the wrong shape are errors, even with a success status.
local tureen = require "tureen"
local harness = require "harness"
local force = require "tureen.force"
local case, same = harness.case, harness.same

local tests = {}

local list = tureen.array
-- Answers of a gateway or of another kind of server, by a short name.
local ANSWERS = {
  page = "<html>Sign in</html>", ok = "OK", null = tureen.null, number = 5, boolean = true, object = { error = "login" },
  list = list { "a" },
}

-- The function, its arguments, a good answer, and the names of the above answers that are also good.
local CALLS = {
  { "query", { "q" }, { records = list() }, "" }, { "queryMore", { "/x" }, { records = list() }, "" },
  { "search", { "s" }, { searchRecords = list() }, "" }, { "retrieve", { "T", "1" }, { Id = "1" }, "object" },
  { "create", { "T", { A = 1 } }, { id = "1", success = true }, "" }, { "update", { "T", { Id = "1" } }, "OK", "ok null" },
  { "upsert", { "T", "F", "e", { A = 1 } }, { id = "1", success = true }, "ok null" }, { "del", { "T", "1" }, "OK", "ok null" },
  { "describe", { "T" }, { name = "T" }, "object" }, { "describeGlobal", {}, { sobjects = list() }, "" },
  { "versions", {}, list { {} }, "list" }, { "collectionCreate", { true, list() }, list(), "list" },
  { "batch", { list() }, { results = list() }, "" }, { "composite", { true, list() }, { compositeResponse = list() }, "" },
  { "addFileShare", { "f", "e", "V" }, { id = "1" }, "" }, { "deleteFileShare", { "1" }, "OK", "ok null" },
}

tests.test_answers_of_another_shape_are_errors = case(function()
  local answer
  force.init { requestHandler = function() return answer end }
  for _, row in ipairs(CALLS) do
    local name, arguments, good, good_words = table.unpack(row)
    answer = good
    same(assert(force[name](table.unpack(arguments))), good, name)
    for word, value in pairs(ANSWERS) do
      answer = value
      local got, err = force[name](table.unpack(arguments))
      if good_words:find(word, 1, true) then
        same(got, value, name .. " " .. word)
      else
        same({ got == nil, err.domain, err.code, type(err.body) }, { true, "force", "badAnswer", "string" }, name .. " " .. word)
      end
    end
  end
  force.init()
end)

tests.test_answer_of_another_shape_reaches_the_error_callback = case(function()
  force.init { requestHandler = function() return "<html>" end }
  local err = select(2, tureen.await(force.query, "q"))
  force.init()
  same({ err.code, err.message }, { "badAnswer", "query: the server's answer is not an object with the list 'records'" })
  same({ force.Error(err).type, err.body }, { "Error", "<html>" })
end)

tests.test_request_that_expects_json_gets_nothing_else = case(function()
  local function ask(path, expects)
    return tureen.await(tureen.network.sendRequest, { path = path, expects = expects })
  end
  same(assert(ask("/services/data/v66.0/limits", "json")) ~= nil, true)
  local _, err = ask("/services/data/v66.0/limits", "nothing")
  same({ err.code, err.status, type(err.body) }, { "invalidBody", 200, "string" })
  _, err = ask("/services/data/v66.0/limits", "words")
  same({ err.code, err.message:find("'expects' must be one of any, json, nothing, jsonOrNothing", 1, true) ~= nil },
    { "invalidArguments", true })
end)

harness.run(tests)
