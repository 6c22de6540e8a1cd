--- Saves objects with the new objects that they refer to. Saves of one object take turns.
local core = ...
local call = core.import "force_call"
local changes = core.import "parse_changes"
local modes = core.import "force_modes"
local parse_call = core.import "parse_call"
local soups = core.import "parse_soups"
local turns = core.import "turns"
local values = core.import "parse_values"

local given, misuse = call.given, call.misuse
local CACHE_MODE = modes.CACHE_MODE

local M = {}

-- MARK: Turns

-- "class|id" -> the place of an object, for all Lua objects that stand for it. A place also has the id that the server gave to
-- a new object.
local places = setmetatable({}, { __mode = "v" })

--- Returns the place of an object, and takes over the id that another Lua object of the same new object was saved with.
local function place_of(object)
  local new_key = object.localId and object.className .. "|" .. object.localId
  local key = object.objectId and object.className .. "|" .. object.objectId
  local place = object.place or key and places[key] or new_key and places[new_key] or turns.place()
  if place.objectId and not object.objectId then object.objectId = place.objectId end
  object.place = place
  if new_key then places[new_key] = place end
  if key then places[key] = place end
  return place
end

local function places_of(objects)
  local list, seen = {}, {}
  for _, object in ipairs(objects) do
    local place = place_of(object)
    if not seen[place] then list[#list + 1], seen[place] = place, true end
  end
  return list
end

--- Runs `body` when the running calls of an object have ended.
function M.in_turn(caller, object, body, ...)
  return turns.take(caller, places_of { object }, body, ...)
end

-- MARK: What to save

local function visit_changes(object, visit)
  for _, set in ipairs(object.sets) do
    for _, op in pairs(set) do
      values.each_object(op.value, visit)
      values.each_object(op.objects, visit)
      for _, link in ipairs(op.links or {}) do
        if link.is_added then visit(link.target) end
      end
    end
  end
end

--- Returns the objects and the objects to be saved with them. Objects that others point to come first.
local function collect(objects)
  local list, seen = {}, {}
  local function visit(object)
    if seen[object] then return end
    seen[object] = true
    visit_changes(object, visit)
    if object:isDirty() then list[#list + 1] = object end
  end
  for _, object in ipairs(objects) do visit(object) end
  return list
end

local function validation_error(object, wrong)
  local parts = {}
  for field, problem in pairs(wrong) do parts[#parts + 1] = ("%s: %s"):format(field, problem) end
  table.sort(parts)
  return parse_call.new_error("invalid", ("%s is not valid: %s"):format(object.className, table.concat(parts, "; ")),
    { fields = wrong, object = object })
end

local function check_all(list)
  for _, object in ipairs(list) do
    local wrong = object:validate()
    if wrong then return validation_error(object, wrong) end
  end
end

--- Returns the mode of a call for an object.
function M.mode_of(object, options)
  local mode = options and options.cacheMode
  if not given(mode) then mode = object.cacheMode end
  if not given(mode) then mode = CACHE_MODE.SERVER_ONLY end
  return mode
end

-- MARK: One request

local function node_of(object)
  return {
    className = object.className, objectId = object.objectId or object.localId, changes = changes.wire(object),
    known = changes.known(object),
  }
end

local function saved(object, answer)
  local set = object.sets[1]
  changes.commit(object)
  object.objectId = answer.objectId
  object.place.objectId = answer.objectId
  place_of(object)
  object:take(answer.fields, changes.parted(set))
  -- The server has the password; do not keep a local copy that could leak.
  if object.className == "_User" then changes.forget(object, "password") end
  return set
end

--- Puts the references of files that are already uploaded in the place of their contents, so that another save refers to them.
local function keep_uploads(object, uploaded)
  for name, value in pairs(uploaded or {}) do
    local op, stored = object.sets[1][name], values.from_wire(value)
    if op and op.op == "Set" then
      object.sets[1][name] = { op = "Set", value = stored }
    elseif op and op.objects and stored.objects then
      object.sets[1][name] = { op = op.op, objects = stored.objects }
    end
  end
end

local function refused(object, mark, answer)
  local failure = parse_call.save_error(answer)
  if answer.objectId then
    object.objectId, object.place.objectId = answer.objectId, answer.objectId
    place_of(object)
  end
  keep_uploads(object, answer.uploaded)
  changes.give_back(object, mark)
  return { object = object, error = failure }
end

-- MARK: All requests of a save

local Job = {}
Job.__index = Job

--- Gives the changes back that were not saved, also when the task has been closed.
function Job:__close()
  for _, object in ipairs(self.list) do changes.give_back(object, self.marks[object]) end
end

local function begin(list, mode, connection)
  local job = setmetatable({ list = list, mode = mode, connection = connection, marks = {}, failures = {}, stored = {} }, Job)
  for _, object in ipairs(list) do job.marks[object] = changes.freeze(object) end
  return job
end

--- Returns the objects whose first set is part of this save. Empty sets need no request.
function Job:due()
  local due = {}
  for _, object in ipairs(self.list) do
    place_of(object)
    while changes.is_open(object, self.marks[object]) and not object:isNew() and not next(object.sets[1]) do
      changes.commit(object)
    end
    if changes.is_open(object, self.marks[object]) then due[#due + 1] = object end
  end
  return due
end

--- Sends the first sets of objects.
---@return boolean? done, tureen.Error? err  an error of the whole request
function Job:send(due)
  local nodes = core.array()
  for i, object in ipairs(due) do nodes[i] = node_of(object) end
  local key = self.list[#self.list].clientKeyField
  local answers, err = parse_call.wait("save", { connection = self.connection, objects = nodes, clientKeyField = key })
  if not answers then return nil, err end
  for i, object in ipairs(due) do
    if answers[i].error then
      self.failures[#self.failures + 1] = refused(object, self.marks[object], answers[i].error)
    else
      self.stored[#self.stored + 1] = { object = object, set = saved(object, answers[i]) }
    end
  end
  return true
end

function Job:outcome()
  if #self.failures == 0 then return true end
  -- The first failure is the cause of those that depend on it.
  local first = self.failures[1].error
  first.failures = self.failures
  return nil, first
end

function Job:run()
  if self.mode == CACHE_MODE.CACHE_ONLY then return soups.save(self.list, self.marks) end
  local due, done, err = self:due(), true, nil
  while done and #due > 0 do
    done, err = self:send(due)
    due = done and self:due() or due
  end
  if self.mode == CACHE_MODE.SERVER_FIRST then
    local stored, problem = soups.store_saved(self.stored)
    if not stored then return nil, err or problem end
  end
  if not done then return nil, err end
  return self:outcome()
end

--- Saves objects of one connection and the new objects that they refer to.
---@param connection_of fun(class: table): string
function M.all(objects, options, connection_of)
  local list, mode, connection = collect(objects), nil, nil
  for _, object in ipairs(list) do
    local own, where = M.mode_of(object, options), connection_of(getmetatable(object))
    mode, connection = mode or own, connection or where
    if own ~= mode then misuse("save: the objects have different cache modes, %s and %s; give one in the options", mode, own) end
    if where ~= connection then misuse("save: the objects belong to different connections, '%s' and '%s'", connection, where) end
  end
  if #list == 0 then return true end
  local wrong = check_all(list)
  if wrong then return nil, wrong end
  local job <close> = begin(list, mode, connection)
  return turns.take("save", places_of(list), job.run, job)
end

return M
