--- Implements a list whose rows disappear as soon as they are deleted and return if the server refuses the deletion.
---
---   local list = optimistic.list { sobjectType = "Contact", records = records,
---     on_failure = function(text, err, record) ... end }
---   list:delete(3)            -- the third row is gone now; the request runs in the background
---
--- Records are tracked by their id, so that several deletions may be in flight. A row that returns takes its old position among
--- the remaining rows. A record that the server no longer has counts as deleted.
local core = ...
local arguments = core.import "arguments"
local call = core.import "force_call"
local calls = core.import "calls"
local client = core.import "force_client"
local guard = core.import "guard"
local storecache = core.import "force_storecache"

local M = { DEFAULT_MESSAGE = "Failed to delete item" }

local NOT_FOUND = 404
local GONE = { NOT_FOUND = true, ENTITY_IS_DELETED = true } -- what the server calls a record that is not there

---@class tureen.optimistic.List
---@field rows table[]       the visible rows
---@field pending integer    the number of unanswered deletions
local List = call.class "OptimisticList"
M.List = List

---@class tureen.optimistic.Settings
---@field sobjectType string
---@field records table[]          each with an Id
---@field cache tureen.force.StoreCache?  marks a record as deleted until the server has answered
---@field on_change fun(list: tureen.optimistic.List)?  called after each change of `rows`
---@field on_failure fun(text: string, err: tureen.Error, record: table)?  called after a failure; `text` is for the user

---@param settings tureen.optimistic.Settings
function List:new(settings)
  if type(settings) ~= "table" then arguments.wrong("list", 1, "settings", "a table", settings) end
  if type(settings.sobjectType) ~= "string" then
    arguments.wrong("list", 1, "settings.sobjectType", "a string", settings.sobjectType)
  end
  if not arguments.is_list(settings.records) then
    arguments.wrong("list", 1, "settings.records", "an array of tables", settings.records)
  end
  self.settings, self.rows, self.pending = settings, {}, 0
  self.order, self.busy = {}, {}
  for i, record in ipairs(settings.records) do
    if type(record) ~= "table" or not call.given(record.Id) then
      call.misuse("list: argument 1 'settings.records[%d]' has no Id", i)
    end
    self.rows[i], self.order[record.Id] = record, i
  end
end

--- Creates a list of records.
---@param settings tureen.optimistic.Settings
---@return tureen.optimistic.List
function M.list(settings) return List(settings) end

--- Returns the kind of a failure: "noResponse" (no answer arrived), "emptyResponse" (the answer has no body), "undecodable" (the
--- body has the wrong form) or "refused" (the server gave a reason).
---@param err tureen.Error
---@return "noResponse"|"emptyResponse"|"undecodable"|"refused"
function M.kind(err)
  if type(err) ~= "table" or not (err.status or err.code == "badAnswer") then return "noResponse" end
  if type(err.errors) == "table" and #err.errors > 0 then return "refused" end
  if not call.given(err.body) or err.body == "" then return "emptyResponse" end
  return type(err.body) == "string" and "undecodable" or "refused"
end

-- The dialog's title for each kind, and the text if the server gives none.
local TITLES = {
  noResponse = "No answer from the server", emptyResponse = "Empty answer from the server",
  undecodable = "Unreadable answer from the server", refused = "Not deleted",
}
local REASONS = {
  noResponse = "the server did not answer; try again when it can be reached",
  emptyResponse = "the server answered without saying whether the item was deleted",
  undecodable = "something other than the server answered, such as a sign-in page of the network",
  refused = "the server refused without giving a reason",
}

--- Returns the texts of a dialog: `{kind, title, message, reason}`. `title` depends on the kind of the failure; `message` is the
--- result of `message(err)`; `reason` is the server's own text, or a sentence about the kind.
---@param err tureen.Error
---@return {kind: string, title: string, message: string, reason: string}
function M.describe(err)
  local kind, message = M.kind(err), M.message(err)
  local reason = message ~= M.DEFAULT_MESSAGE and message or REASONS[kind]
  return { kind = kind, title = TITLES[kind], message = message, reason = reason }
end

--- Returns whether a failure means that the server no longer has the record. A gateway's page with status 404 does not count.
local function says_gone(err)
  local first = err.status == NOT_FOUND and type(err.errors) == "table" and err.errors[1]
  return type(first) == "table" and GONE[first.errorCode] == true
end

--- Returns the server's first message, or `DEFAULT_MESSAGE`.
---@param err tureen.Error
---@return string
function M.message(err)
  local first = type(err) == "table" and type(err.errors) == "table" and err.errors[1]
  if type(first) == "table" and type(first.message) == "string" and first.message ~= "" then return first.message end
  return M.DEFAULT_MESSAGE
end

local function changed(self) guard.invoke(self.settings.on_change, self) end

--- Inserts a row again, before the first remaining row that followed it.
local function reinstate(self, record)
  local position = #self.rows + 1
  for i, row in ipairs(self.rows) do
    if self.order[row.Id] > self.order[record.Id] then
      position = i
      break
    end
  end
  table.insert(self.rows, position, record)
  changed(self)
end

--- Sets the mark of a deletion in the cache's record, as it is by then: edits that are made meanwhile stay.
local function set_mark(cache, record, is_deleted, patch)
  local marked = call.copy(record)
  marked.__locally_deleted__ = is_deleted
  if not storecache.is_own(cache) then return cache:save(marked) end
  patch.externalId, patch.flags = record[cache.keyField], { __locally_deleted__ = is_deleted }
  if not patch.ifExists then patch.create = cache:addLocalFields(marked) end
  return storecache.patch(cache, { patch })
end

--- Marks the record in the cache, so that a restart before the answer loses nothing.
local function mark(self, record)
  local cache = self.settings.cache
  if not cache then return true end
  return set_mark(cache, record, true, {})
end

--- Removes a deleted record from the cache, or else the mark of the record.
local function settle(self, record, is_deleted)
  local cache = self.settings.cache
  if not cache then return true end
  if is_deleted then return cache:remove(record.Id) end
  return set_mark(cache, record, record.__locally_deleted__ == true, { ifExists = true })
end

local function delete(self, record)
  local marked, err = mark(self, record)
  local answer
  if marked then answer, err = client.del(self.settings.sobjectType, record.Id) end
  local is_deleted = answer ~= nil or says_gone(err)
  -- A mark that cannot be removed now does no harm: the next sync up finds that the record is gone.
  settle(self, record, is_deleted)
  if is_deleted then return core.null end
  return nil, err
end

local function ended(self, record, value, err)
  self.busy[record.Id], self.pending = nil, self.pending - 1
  if value ~= nil then return end
  reinstate(self, record)
  guard.invoke(self.settings.on_failure, M.message(err), err, record)
end

--- Passes the error of a deletion to the callbacks; without a callback it is reported.
local function tell_failure(self, failure, err, place)
  if call.given(failure) then return guard.invoke(failure, err) end
  if self.settings.on_failure == nil then calls.unhandled(err, place) end
end

local delete_record = call.define {
  name = "delete", is_method = true, params = { { "record", "table" } }, body = delete,
}

local function check_callbacks(caller, success, failure)
  for i, name in ipairs { "success", "failure" } do
    local callback = select(i, success, failure)
    if call.given(callback) and type(callback) ~= "function" then
      arguments.wrong(caller, i + 1, name, "a function", callback)
    end
  end
end

--- Removes a row immediately and deletes its record in the background. `success` or `error` is called at the end. After a failure
--- the row is inserted again first.
---@param position integer  the row's position, starting at 1
---@param success fun()?
---@param failure fun(err: tureen.Error)?
---@return boolean  false if the record is already being deleted or there is no such row
function List:delete(position, success, failure)
  if math.type(position) ~= "integer" then arguments.wrong("delete", 1, "position", "an integer", position) end
  check_callbacks("delete", success, failure)
  local record = self.rows[position]
  if record == nil or self.busy[record.Id] then return false end
  local place = core.where()
  self.busy[record.Id], self.pending = true, self.pending + 1
  table.remove(self.rows, position)
  changed(self)
  calls.defer(delete_record, self, record, function(value)
    ended(self, record, value)
    if call.given(success) then guard.invoke(success) end
  end, function(err)
    ended(self, record, nil, err)
    tell_failure(self, failure, err, place)
  end)
  return true
end

--- Removes the row of the record with this id, like `delete`.
---@param id string
---@return boolean
function List:delete_id(id, success, failure)
  if type(id) ~= "string" then arguments.wrong("delete_id", 1, "id", "a string", id) end
  check_callbacks("delete_id", success, failure)
  for i, record in ipairs(self.rows) do
    if record.Id == id then return self:delete(i, success, failure) end
  end
  return false
end

return M
