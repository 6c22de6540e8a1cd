--- Stores objects of a Parse server in soups: the server's versions, and changes for the next sync up.
local core = ...
local async = core.import "async"
local call = core.import "force_call"
local local_ids = core.import "local_ids"
local changes = core.import "parse_changes"
local operations = core.import "parse_operations"
local parse_call = core.import "parse_call"
local smartstore = core.import "smartstore"
local values = core.import "parse_values"

local M = {}

local await, copy = async.await, call.copy
local ID = "objectId"
-- Marks a column that is to be removed.
local GONE = {}
local CLEAN = { __local__ = false, __locally_created__ = false, __locally_updated__ = false, __locally_deleted__ = false }

--- Returns the store config of a class's soup.
function M.config_of(class)
  local config = class.storeConfig or {}
  return { isGlobalStore = config.isGlobalStore == true, storeName = config.storeName }
end

--- Returns the soup and the relations of each class in the form of the action findInSoup.
function M.places(classes)
  local places = {}
  for name, class in pairs(classes) do
    if rawget(class, "soup") then
      local links, ids = {}, {}
      for key, relation in pairs(class.relations) do links[key], ids[key] = relation.linkSoup, relation.idsField end
      places[name] = { soup = class.soup, links = next(links) and links or nil, ids = next(ids) and ids or nil }
    end
  end
  return places
end

--- Applies a patch to the entry with this value; returns {entryId, version, outcome, entry}, or null.
local function patch_one(config, soup, path, value, patch)
  patch.externalId = value
  local edited, err = await(smartstore.patchSoupEntries, config, soup, { patch }, path)
  if not edited then return nil, err end
  return edited[1]
end

--- Returns a soup's entry with this value; null if there is none. `_soupVersion` is its version, for `store`.
local function find_entry(config, soup, path, value)
  local found, err = patch_one(config, soup, path, value, { ifExists = true })
  if found == nil or found == core.null then return found, err end
  found.entry._soupVersion = found.version
  return found.entry
end

--- Returns an object's row in the soup of its class; null if there is none.
function M.find_one(class, id)
  local entry, err = find_entry(M.config_of(class), class.soup, ID, id)
  if entry == nil then return nil, err end
  if entry == core.null or entry.__locally_deleted__ == true then return core.null end
  local row = {}
  for key, value in pairs(entry) do
    if not key:find "^_soup" and not key:find "^__.*__$" then row[key] = value end
  end
  return row
end

--- Stores an entry, which `find_entry` has read or which is new. If another writer has changed it since, the error has the code
--- entryChanged; see `retrying`.
local function store(config, soup, entry)
  if not entry._soupEntryId then
    return await(smartstore.upsertSoupEntriesWithExternalId, config, soup, core.array { entry }, "_soupEntryId")
  end
  local patch = { entryId = entry._soupEntryId, ifVersion = entry._soupVersion, copy = entry, flags = {} }
  for flag in pairs(CLEAN) do
    if flag ~= "__local__" then patch.flags[flag] = entry[flag] end
  end
  local edited, err = await(smartstore.patchSoupEntries, config, soup, { patch })
  if not edited then return nil, err end
  return core.array { edited[1].entry }
end

--- Returns a function that repeats `body`, which reads entries and stores them, when another writer came between.
local function retrying(body)
  return function(...)
    local done, err
    repeat done, err = body(...) until done ~= nil or not err or err.code ~= "entryChanged"
    return done, err
  end
end

--- Returns the entry with these flags and the resulting `__local__`.
local function flagged(entry, flags)
  local result = copy(entry)
  for key, value in pairs(CLEAN) do result[key] = value end
  for key, value in pairs(flags or {}) do
    result[key] = value
    result.__local__ = result.__local__ or value
  end
  return result
end

-- MARK: server versions

--- Returns a copy of a value with pointers in place of included objects, which are passed to `keep(row, className)`.
local function collapsed(value, keep)
  if type(value) ~= "table" or value == core.null then return value end
  if value.__type == "Object" and value.className then
    local row = copy(value)
    row.__type, row.className = nil, nil
    keep(row, value.className)
    return { __type = "Pointer", className = value.className, objectId = value.objectId }
  end
  local result = core.is_array(value) and core.array() or {}
  for key, element in pairs(value) do result[key] = collapsed(element, keep) end
  return result
end

--- Returns a row without the markers of relations, which every object of a class contains and which carry no information, and
--- the names of its removed columns.
local function columns_of(row)
  local columns, gone = {}, core.array()
  for key, value in pairs(row) do
    if value == GONE then
      gone[#gone + 1] = key
    elseif not (type(value) == "table" and value.__type == "Relation") then
      columns[key] = value
    end
  end
  return columns, gone
end

--- Returns the columns of a class that hold ids of related objects, which the server does not send.
local function kept_columns(class)
  local kept = core.array()
  for _, relation in pairs(class.relations) do kept[#kept + 1] = relation.idsField end
  return kept
end

--- Stores rows of the server, all in one transaction. Entries with local changes are not changed.
local function store_all(class, rows, part)
  local records = core.array()
  for i, row in ipairs(rows) do records[i] = columns_of(row) end
  return await(smartstore.mergeServerRecords, M.config_of(class), class.soup, records, "LEAVE_IF_CHANGED", {
    externalIdPath = ID, modificationDateFieldName = "updatedAt", partial = part ~= nil, onlyKnown = part == "known",
    kept = kept_columns(class),
  })
end

--- Stores a row of the server. An entry with local changes is not changed.
---@param part string?  set if the row contains only some columns, so that the others are kept: "known" stores it only if there
---  is an entry, "any" always
local function store_row(class, row, part)
  local columns, gone = columns_of(row)
  if #gone == 0 then return store_all(class, { row }, part) end
  local flags = copy(CLEAN)
  flags.__local__ = nil
  local patch = { ifClean = true, set = columns, unset = gone, flags = flags }
  if part == "known" then patch.ifExists = true else patch.create = flagged(columns) end
  return patch_one(M.config_of(class), class.soup, ID, row.objectId, patch)
end

--- Stores rows of the server, and included objects in their own soups.
---@param class_of function  returns the class for a name
---@param part string?  see store_row
function M.store_rows(class, rows, class_of, part)
  local included, plain = {}, {}
  local function keep(row, name)
    included[name] = included[name] or {}
    table.insert(included[name], row)
  end
  for i, row in ipairs(rows) do plain[i] = collapsed(row, keep) end
  if #plain > 0 then
    local stored, err = store_all(class, plain, part)
    if not stored then return nil, err end
  end
  for name, others in pairs(included) do
    local other = class_of(name)
    if rawget(other, "soup") then
      local stored, err = M.store_rows(other, others, class_of)
      if not stored then return nil, err end
    end
  end
  return true
end

-- MARK: links

local function link_soup(object, key)
  local relation = object.relations[key]
  return relation and relation.linkSoup
end

local function ids_field(object, key)
  local relation = object.relations[key]
  return relation and relation.idsField
end

--- Changes the lists of ids that an entry contains instead of link rows.
---@return boolean changed
local function change_ids(entry, object, changed)
  local has_changed = false
  for key, change in pairs(changed) do
    local field = change.links and ids_field(object, key)
    if field then
      local known = {}
      for _, id in ipairs(call.given(entry[field]) and entry[field] or {}) do known[id] = true end
      for _, link in ipairs(operations.net_links(change)) do known[link.id] = link.is_added or nil end
      local ids = core.array()
      for id in pairs(known) do ids[#ids + 1] = id end
      table.sort(ids)
      entry[field], has_changed = ids, true
    end
  end
  return has_changed
end

--- Writes the change of a link that a save made or that is to be sent. `is_local`: the next sync up sends it.
local function write_link(object, key, id, related, is_added, is_local)
  local soup, config = link_soup(object, key), M.config_of(getmetatable(object))
  local link_key = ("%s|%s|%s|%s"):format(object.className, id, key, related)
  local stored, err = find_entry(config, soup, "linkKey", link_key)
  if stored == nil then return nil, err end
  local row = stored ~= core.null and copy(stored) or { linkKey = link_key, ownerId = id, field = key, relatedId = related }
  local is_new = stored == core.null or stored.__locally_created__ == true
  -- The server has no link of an object that it does not have.
  local is_impossible = local_ids.is_local(id) or local_ids.is_local(related)
  if stored == core.null and not is_added and is_impossible then return true end
  if not is_added and (is_new and stored ~= core.null or not is_local) then
    if stored == core.null then return true end
    return await(smartstore.removeFromSoup, config, soup, { row._soupEntryId })
  end
  local flags = {}
  if is_local and is_added and is_new then flags.__locally_created__ = true end
  -- Whether the server has the link that was to be removed is not known. Adding it again changes nothing there.
  local is_pending = stored ~= core.null and (stored.__locally_deleted__ == true or stored.__locally_updated__ == true)
  if is_local and is_added and not is_new and is_pending then flags.__locally_updated__ = true end
  if is_local and not is_added then flags.__locally_deleted__ = true end
  return store(config, soup, flagged(row, flags))
end

write_link = retrying(write_link)

local function write_links(object, id, changed, is_local)
  for key, change in pairs(changed) do
    local is_kept = link_soup(object, key) and not ids_field(object, key)
    for _, link in ipairs(is_kept and operations.net_links(change) or {}) do
      local done, err = write_link(object, key, id, link.id, link.is_added, is_local)
      if not done then return nil, err end
    end
  end
  return true
end

--- Stores one object that was saved on the server.
---@param set table  the changes that the save sent
local function store_one(object, set)
  local class = getmetatable(object)
  local row = values.to_wire(object.server)
  row.objectId = object.objectId
  for name in pairs(set) do
    if row[name] == nil and not name:find(".", 1, true) then row[name] = GONE end
  end
  local stored, err = find_entry(M.config_of(class), class.soup, ID, object.objectId)
  if stored == nil then return nil, err end
  local lists = stored ~= core.null and copy(stored) or {}
  if change_ids(lists, object, set) then
    for key in pairs(set) do
      local field = ids_field(object, key)
      if field then row[field] = lists[field] end
    end
  end
  stored, err = store_row(class, row, "any")
  if not stored then return nil, err end
  return write_links(object, object.objectId, set, false)
end

--- Stores the objects that were saved on the server.
---@param saved {object: table, set: table}[]  the objects with the changes that the save sent
function M.store_saved(saved)
  for _, one in ipairs(saved) do
    if rawget(getmetatable(one.object), "soup") then
      local done, err = store_one(one.object, one.set)
      if not done then return nil, err end
    end
  end
  return true
end

-- MARK: for the next sync up

local function is_inside(name, outer) return name:sub(1, #outer + 1) == outer .. "." end

--- Notes in `__operations__` what a change did to an entry that the server has, so that the sync up sends operations. A field
--- that was also changed in another way is sent as a value.
local function note_operation(entry, name, op, before)
  local noted = entry.__operations__
  local prior, is_value = noted[name], op.op == "Set" or op.op == "Delete"
  for other in pairs(copy(noted)) do
    if is_inside(name, other) or is_inside(other, name) then
      noted[other], is_value = nil, true
      name = is_inside(name, other) and other or name
    end
  end
  local is_same = not prior or prior.op == op.op and operations.same(prior.value, before)
  if is_value or not is_same then
    noted[name] = { op = "Set" }
  else
    noted[name] = { op = op.op, value = changes.value(entry, name) }
  end
end

--- Applies a set to an entry, or takes the values of the object if there is no entry yet.
---@return boolean? has_changed, tureen.Error? err
local function apply_to_entry(entry, object, set, is_known)
  local has_changed, after = not is_known and object:isNew(), changes.after(object, 1)
  for name, op in pairs(set) do
    if op.op ~= "Relation" then
      local value, before = values.to_wire(changes.value(after, name)), changes.value(entry, name)
      if is_known then value = operations.applied(operations.stored(op), before) end
      local missing = changes.put(entry, name, value)
      if missing then
        return nil, parse_call.new_error("invalidRequest", ("'%s' is not an element of the list in soup '%s'")
          :format(missing, getmetatable(object).soup))
      end
      if entry.__operations__ then note_operation(entry, name, op, before) end
      has_changed = true
    end
  end
  return has_changed
end

--- Stores one set of an object.
local function save_one(object, set)
  local class, id = getmetatable(object), object.objectId or object.localId
  local config = M.config_of(class)
  local stored, err = find_entry(config, class.soup, ID, id)
  if stored == nil then return nil, err end
  local is_known = stored ~= core.null
  local entry = is_known and copy(stored) or { objectId = id }
  -- Of an entry that was edited in another way it is not known which fields differ from the server's.
  local is_clean = is_known and stored.__local__ ~= true
  entry.__operations__ = is_clean and {} or is_known and call.given(stored.__operations__) and copy(stored.__operations__) or nil
  local has_changed, problem = apply_to_entry(entry, object, set, is_known)
  if has_changed == nil then return nil, problem end
  if entry.__operations__ and next(entry.__operations__) == nil then entry.__operations__ = nil end
  has_changed = change_ids(entry, object, set) or has_changed
  if has_changed then
    local is_created = is_known and stored.__locally_created__ == true or not is_known and object.objectId == nil
    local flags = { __locally_created__ = is_created, __locally_updated__ = not is_created }
    entry, err = store(config, class.soup, flagged(entry, flags))
    if not entry then return nil, err end
  end
  return write_links(object, id, set, true)
end

save_one = retrying(save_one)

--- Returns the reason why an object cannot be stored locally; nil if it can.
local function refusal(object)
  if not rawget(getmetatable(object), "soup") then
    return parse_call.new_error("invalidRequest",
      ("class %s has no soup: name it in 'soup' of the class to save its objects offline"):format(object.className))
  end
  for _, set in ipairs(object.sets) do
    for key, change in pairs(set) do
      if change.links and not link_soup(object, key) and not ids_field(object, key) then
        return parse_call.new_error("invalidRequest",
          ("relation '%s' of class %s has no 'linkSoup' and no 'idsField' in 'relations' of the class: it cannot be kept here")
            :format(key, object.className))
      end
    end
  end
end

--- Stores objects with the changes up to a set of each. Objects that others point to come first.
---@param marks table<table, table>  the last set to store, by object
function M.save(list, marks)
  for _, object in ipairs(list) do
    local err = refusal(object)
    if err then return nil, err end
  end
  for _, object in ipairs(list) do
    while changes.is_open(object, marks[object]) do
      local saved, err = save_one(object, object.sets[1])
      if not saved then return nil, err end
      changes.commit(object)
    end
  end
  return true
end

--- Marks an object as deleted; an object that was created locally is removed.
M.mark_deleted = retrying(function(class, id)
  local config = M.config_of(class)
  local stored, err = find_entry(config, class.soup, ID, id)
  if stored == nil then return nil, err end
  if stored == core.null then
    return nil, parse_call.new_error("notFound", ("%s %s is not in soup '%s'"):format(class.className, id, class.soup))
  end
  if stored.__locally_created__ == true then
    return await(smartstore.removeFromSoup, config, class.soup, { stored._soupEntryId })
  end
  local done
  done, err = store(config, class.soup, flagged(stored, { __locally_deleted__ = true }))
  if not done then return nil, err end
  return "OK"
end)

--- Removes an object that the server no longer has.
function M.remove(class, id)
  local config = M.config_of(class)
  local stored, err = find_entry(config, class.soup, ID, id)
  if stored == nil then return nil, err end
  if stored == core.null then return "OK" end
  return await(smartstore.removeFromSoup, config, class.soup, { stored._soupEntryId })
end

return M
