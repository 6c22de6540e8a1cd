--- Functions for the org's REST API.
---
--- Each takes `success` and `error` as its last arguments, works with `await`, and waits when called inside a task. Optional
--- arguments may be omitted. Paths begin with `/services/data/v66.0`; `init{apiVersion}` changes the version. An answer of the
--- wrong shape is an error.
local core = ...
local answers = core.import "force_answers"
local call = core.import "force_call"
local calls = core.import "calls"
local async = core.import "async"
local network = core.import "network"
local arguments = core.import "arguments"
local url = core.import "force_url"

---@class tureen.force.client
local M = {
  apiVersion = "v66.0", parseUrl = url.parseUrl, computeEndPointIfMissing = url.computeEndPointIfMissing,
  -- Functions for other modules of `tureen.force`.
  internal = { define = true, path_of = true, configure = true, set_api_version = true },
}

local DATA = "/services/data"
local handler -- what `init{requestHandler}` gave: it takes the place of the network

--- Sets the API version, such as "v66.0".
function M.set_api_version(caller, version)
  if type(version) ~= "string" or not version:find("^v%d+%.%d+$") then
    call.misuse("%s: 'apiVersion' must look like v66.0, got %s", caller, tostring(version))
  end
  M.apiVersion = version
end

--- Sets the API version, and for tests a function that answers instead of the network: `requestHandler(request)` gets `{method,
--- path, params, data, headerParams}`, may wait, and returns the answer, or nil and an error.
---@param options {apiVersion: string?, requestHandler: function?}
function M.configure(options)
  if call.given(options.apiVersion) then M.set_api_version("init", options.apiVersion) end
  if call.given(options.requestHandler) and type(options.requestHandler) ~= "function" then
    call.misuse("init: 'requestHandler' must be a function, got %s", type(options.requestHandler))
  end
  handler = call.given(options.requestHandler) and options.requestHandler or nil
end

--- Builds the path of a resource of this version from pieces, which it encodes.
local function path_of(...)
  local pieces = { DATA, M.apiVersion }
  for _, piece in ipairs { ... } do pieces[#pieces + 1] = url.encode(piece) end
  return table.concat(pieces, "/")
end
M.path_of = path_of

--- Converts a request to the options of the network service. `expects`: see `force_answers`.
local function as_sent(request, expects)
  local path, query = request.path, request.params
  if request.data ~= nil then
    path, query = path .. url.query(request.params), request.data
  end
  return {
    path = path, method = request.method, queryParams = query, headerParams = request.headerParams,
    returnBinary = request.binary, doesNotRequireAuthentication = request.noAuth, expects = request.expects or expects,
  }
end

--- Sends a request to the handler or the network and waits for the answer.
local function ask(request, expects)
  if handler then return handler(request) end
  return async.await(network.sendRequest, as_sent(request, expects))
end

--- Returns a success callback that checks the answer first.
local function when_right(name, wanted, success, failure)
  local place = not failure and core.where() or nil
  return function(answer)
    local checked, err = answers.checked(name, wanted, answer)
    if checked ~= nil then return success and success(checked) end
    if failure then return failure(err) end
    calls.unhandled(err, place)
  end
end

--- Defines `M[name]`, which sends the request that `build(...)` creates from its arguments: `{method, path, params, data,
--- headerParams, binary, noAuth, expects}`.
---@param wanted table?  the answer's shape from `force_answers`; by default an object
function M.define(name, params, build, wanted)
  local count = #params
  wanted = wanted or answers.object
  local function ask_right(request)
    local answer, err = ask(request, wanted.expects)
    if answer == nil then return nil, err end
    return answers.checked(name, wanted, answer)
  end
  M[name] = arguments.define {
    name = name, params = params,
    send = function(success, failure, _, values)
      local request = build(table.unpack(values, 1, count))
      if success or failure then
        if handler then return call.tell_callbacks(async.async(ask_right, request), success, failure) end
        return network.sendRequest(as_sent(request, wanted.expects), when_right(name, wanted, success, failure), failure)
      end
      if coroutine.isyieldable() then return ask_right(request) end
      call.misuse("%s: pass callbacks, or call it inside tureen.async(function() ... end)", name)
    end,
  }
end

local define = M.define
local TYPE, ID, DATA_FIELDS = { "sobjectType", "string" }, { "id", "string" }, { "data", "table" }
local ALL_OR_NONE = { "allOrNone", "boolean" }

local function get(path, params) return { method = "GET", path = path, params = params } end

-- versions(): a list of the org's API versions
define("versions", {}, function() return get(DATA .. "/") end, answers.list)
-- resources(): a table of paths by name
define("resources", {}, function() return get(path_of()) end)
-- limits(): a table of {Max, Remaining} by name
define("limits", {}, function() return get(path_of("limits")) end)
-- describeGlobal(): {sobjects = {...}}
define("describeGlobal", {}, function() return get(path_of("sobjects")) end, answers.sobjects)
-- metadata(sobjectType): {objectDescribe, recentItems}
define("metadata", { TYPE }, function(kind) return get(path_of("sobjects", kind)) end)
-- describe(sobjectType), getPickListValues(sobjectType): a table with fields, child relationships and more
for _, name in ipairs { "describe", "getPickListValues" } do
  define(name, { TYPE }, function(kind) return get(path_of("sobjects", kind, "describe")) end)
end
-- describeLayout(sobjectType, recordTypeId?): all layouts, or that of one record type
define("describeLayout", { TYPE, { "recordTypeId", "string", optional = true } }, function(kind, record_type)
  return get(path_of("sobjects", kind, "describe", "layouts", record_type or ""))
end)

-- query(soql), queryAll(soql): {totalSize, done, records, nextRecordsUrl?}; queryAll includes deleted records
for _, name in ipairs { "query", "queryAll" } do
  define(name, { { "soql", "string" } }, function(soql) return get(path_of(name), { q = soql }) end, answers.records)
end
-- search(sosl): {searchRecords = {...}}
define("search", { { "sosl", "string" } }, function(sosl) return get(path_of("search"), { q = sosl }) end,
  answers.search_records)
-- queryMore(nextRecordsUrl): the next page, for a URL that query returned; the URL's host is ignored
define("queryMore", { { "url", "string" } }, function(address)
  return get((address:gsub("^%a[%w+.-]*://[^/?#]*", "")))
end, answers.records)

--- Converts field names, a list or a string with commas, to the query parameter.
local function check_fields(caller, position, fields)
  if not call.given(fields) or fields == "" then return nil end
  if type(fields) == "string" then return { fields = table.concat(arguments.fieldlist(fields), ",") } end
  if not arguments.is_list(fields) then
    arguments.wrong(caller, position, "fields", "a string or an array of strings", fields)
  end
  for name in pairs(fields) do
    if math.type(name) ~= "integer" or name > #fields or type(fields[name]) ~= "string" then
      arguments.wrong(caller, position, "fields", "a string or an array of strings", fields)
    end
  end
  return { fields = table.concat(arguments.fieldlist(fields), ",") }
end

-- retrieve(sobjectType, id, fields?): the record; fields is a list of names or a comma-separated string
define("retrieve", { TYPE, ID, { "fields", "any", optional = true } }, function(kind, id, fields)
  return get(path_of("sobjects", kind, id), check_fields("retrieve", 3, fields))
end)
-- create(sobjectType, data): {id, success, errors}
define("create", { TYPE, DATA_FIELDS }, function(kind, data)
  return { method = "POST", path = path_of("sobjects", kind, ""), data = data }
end, answers.created)

--- Splits a record into its id and the fields to send.
local function split_id(caller, data)
  local rest = call.copy(data)
  local id = call.given(rest.Id) and rest.Id or rest.id
  if type(id) ~= "string" or id == "" then arguments.wrong(caller, 2, "data.Id", "a string", id) end
  rest.Id, rest.id, rest.attributes = nil, nil, nil
  return id, rest
end

-- update(sobjectType, data, headers?): "OK"; data contains the Id and the fields to change; headers: e.g. If-Unmodified-Since
define("update", { TYPE, DATA_FIELDS, { "headers", "table", optional = true } }, function(kind, data, headers)
  local id, fields = split_id("update", data)
  return { method = "PATCH", path = path_of("sobjects", kind, id), data = fields, headerParams = headers }
end, answers.nothing)
-- upsert(sobjectType, externalIdField, externalId, data): {id, success, created}; without externalId (nil, null or "") creates
define("upsert", { TYPE, { "externalIdField", "string" }, { "externalId", "string", optional = true }, DATA_FIELDS },
  function(kind, field, external_id, data)
    if external_id == nil or external_id == "" then
      return { method = "POST", path = path_of("sobjects", kind, field, ""), data = data }
    end
    return { method = "PATCH", path = path_of("sobjects", kind, field, external_id), data = data }
  end, answers.upserted)
-- del(sobjectType, id): "OK"
define("del", { TYPE, ID }, function(kind, id) return { method = "DELETE", path = path_of("sobjects", kind, id) } end,
  answers.nothing)
-- getAttachment(id): {encodedBody, contentType}; network.bytes decodes the body
define("getAttachment", { ID }, function(id)
  return { method = "GET", path = path_of("sobjects", "Attachment", id, "Body"), binary = true }
end, answers.any)

-- collectionCreate(allOrNone, records), collectionUpdate(allOrNone, records): a list of {id, success, errors}; each record needs
-- attributes.type
for name, method in pairs { collectionCreate = "POST", collectionUpdate = "PATCH" } do
  define(name, { ALL_OR_NONE, { "records", "tables" } }, function(all_or_none, records)
    return { method = method, path = path_of("composite", "sobjects"), data = { allOrNone = all_or_none, records = records } }
  end, answers.list)
end
-- collectionUpsert(allOrNone, sobjectType, externalIdField, records): a list of {id, success, created, errors}
define("collectionUpsert", { ALL_OR_NONE, TYPE, { "externalIdField", "string" }, { "records", "tables" } },
  function(all_or_none, kind, field, records)
    return {
      method = "PATCH", path = path_of("composite", "sobjects", kind, field),
      data = { allOrNone = all_or_none, records = records },
    }
  end, answers.list)
-- collectionRetrieve(sobjectType, ids, fields): the records; null for each one that does not exist
define("collectionRetrieve", { TYPE, { "ids", "strings" }, { "fields", "fieldlist" } }, function(kind, ids, fields)
  return { method = "POST", path = path_of("composite", "sobjects", kind), data = { ids = ids, fields = fields } }
end, answers.list)
-- collectionDelete(allOrNone, ids): a list of {id, success, errors}
define("collectionDelete", { ALL_OR_NONE, { "ids", "strings" } }, function(all_or_none, ids)
  local query = url.query { allOrNone = tostring(all_or_none), ids = table.concat(ids, ",") }
  return { method = "DELETE", path = path_of("composite", "sobjects") .. query }
end, answers.list)

-- batch(requests, haltOnError?): {hasErrors, results = {{statusCode, result}}}; a request is {method, url, richInput?}, and its
-- url begins with the version
define("batch", { { "requests", "tables" }, { "haltOnError", "boolean", optional = true } }, function(requests, halt)
  local data = { batchRequests = requests, haltOnError = halt == true }
  return { method = "POST", path = path_of("composite", "batch"), data = data }
end, answers.results)
-- composite(allOrNone, requests): {compositeResponse = {{body, httpHeaders, httpStatusCode, referenceId}}}; a request is
-- {method, url, referenceId, body?}, and its url begins with /services/data
define("composite", { ALL_OR_NONE, { "requests", "tables" } }, function(all_or_none, requests)
  local data = { allOrNone = all_or_none, compositeRequest = requests }
  return { method = "POST", path = path_of("composite"), data = data }
end, answers.responses)
-- tree(sobjectType, records): {hasErrors, results = {{referenceId, id}}}; a record needs attributes {type, referenceId} and may
-- contain children under the plural name of their relationship
define("tree", { TYPE, { "records", "tables" } }, function(kind, records)
  return { method = "POST", path = path_of("composite", "tree", kind), data = { records = records } }
end, answers.results)
-- primingRecords(relayToken?, changedAfterTimestamp?): {primingRecords, relayToken, ruleErrors, stats}; the time is an ISO string
define("primingRecords", {
  { "relayToken", "string", optional = true }, { "changedAfterTimestamp", "string", optional = true },
}, function(token, changed_after)
  local path = path_of("connect", "briefcase", "priming-records")
  return get(path, { relayToken = token, changedAfterTimestamp = changed_after })
end)

--- Checks a request table and returns a copy whose path has the prefix.
local function under(prefix, caller, request)
  if type(request.path) ~= "string" then call.misuse("%s: You must specify a path for the request", caller) end
  local copy = call.copy(request)
  copy.path, copy.method = url.with_prefix(prefix, request.path), request.method or "GET"
  return copy
end

-- apexrest(path), apexrest({path, method, params, data, headerParams, expects}): the answer of an Apex REST endpoint. A table's
-- path gets the prefix /services/apexrest if it lacks it; a string is used unchanged
define("apexrest", { { "request", "any" } }, function(request)
  if type(request) == "string" then return get(request) end
  if type(request) ~= "table" then arguments.wrong("apexrest", 1, "request", "a string or a table", request) end
  return under("/services/apexrest", "apexrest", request)
end, answers.any)
-- chatter({path, method, params, data}): the answer of a resource under /services/data/v66.0/chatter
define("chatter", { { "request", "table" } }, function(request) return under(path_of("chatter"), "chatter", request) end,
  answers.any)
-- request({method, path, params, data, headerParams, binary, noAuth, expects}): the answer to any request of the org; expects
-- has the values of network.sendRequest
define("request", { { "request", "table" } }, function(request) return under("", "request", request) end, answers.any)
-- anyrest(url, binary?, noAuth?, request?): the answer of any full URL; request may have method, params, data, headerParams
define("anyrest", {
  { "url", "string" }, { "binary", "boolean", optional = true }, { "noAuth", "boolean", optional = true },
  { "request", "table", optional = true },
}, function(address, binary, no_auth, request)
  local copy = call.copy(request)
  copy.path, copy.method, copy.binary, copy.noAuth = address, copy.method or "GET", binary, no_auth
  return copy
end, answers.any)

return M
