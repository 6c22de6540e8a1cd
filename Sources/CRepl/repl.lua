-- The Lua part of the prompt of `tureen repl`. The program calls it with a verb and a text, and gets a text:
--   setup   "width color"           "" - call it first, and whenever the terminal's size changes
--   line    a typed line            "more": the statement is incomplete; "running": it waits; "done"; "exit"
--   poll    -                       delivers events and results; "running" or "done"
--   cancel  -                       cancels the running statement and discards the typed lines; "running" or "done"
--   pending -                       the number of pending calls
--   idle    -                       call it when nothing is pending: a statement that still waits fails; "running" or "done"
--   fd      -                       the descriptor to watch
--   complete  the line up to the cursor  the number of bytes to replace, then one candidate per line; or "soup" and a prefix:
--                                   complete with names of soups
--   failed  -                       the number of failed statements
local tureen = require "tureen"
local values = require "tureen.repl.values"

local typed           -- the lines of an incomplete statement
local task            -- the running statement
local cancelled       -- true once task:cancel() was called
local failures = 0
local reported        -- {err}: the error that tureen.onerror has shown for this statement; the statement raises it as well

-- The modules and functions that are globals at the prompt.
for _, name in ipairs { "smartstore", "mobilesync", "network", "keyvalue", "sdkinfo", "oauth", "force", "json",
  "await", "async", "all", "sleep", "null" } do
  _G[name] = tureen[name]
end
_G.tureen = tureen

-- Running statements and showing their results

local function complain(text)
  failures = failures + 1
  io.stdout:flush()
  io.stderr:write(values.paint("31", values.escaped(text)), "\n")
end

--- Returns the lines of a traceback that belong to the script.
local function own_frames(traceback)
  local lines = {}
  for line in traceback:gmatch("[^\n]+") do
    if line:find("[tureen", 1, true) or line:find("'xpcall'", 1, true) then break end
    local is_own = line:find("^\t") and not line:find("[C]", 1, true) and not line:find("in main chunk", 1, true)
    if is_own then lines[#lines + 1] = line end
  end
  return table.concat(lines, "\n")
end

local function show_error(err, traceback)
  local text = values.is_error(err) and values.scalar(err) or type(err) == "string" and err or values.text_of(err)
  local frames = type(err) == "string" and own_frames(traceback or "") or ""
  complain(frames == "" and text or text .. "\n" .. frames)
end

local function show_results(results)
  if results.n >= 2 and results[1] == nil and values.is_error(results[2]) then return complain(values.scalar(results[2])) end
  local count = results.n
  while count > 1 and results[count] == nil do count = count - 1 end
  for i = 1, count do print(values.text_of(results[i])) end
end

local function run(fn)
  reported = nil
  task, cancelled = tureen.async(function()
    local results = table.pack(xpcall(fn, function(err) return { err = err, traceback = debug.traceback("", 2) } end))
    if results[1] then return show_results(table.pack(table.unpack(results, 2, results.n))) end
    local caught = results[2]
    local has_traceback = type(caught) == "table" and caught.traceback
    local err = caught
    if has_traceback then err = caught.err end
    if reported and rawequal(reported[1], err) then return end
    show_error(err, has_traceback and caught.traceback or nil)
  end), false
end

local function state()
  if task and task:status() == "running" then return "running" end
  task = nil
  return "done"
end

-- Words that are not Lua, which people type first.
local HELP = [[
Type Lua; the value of an expression is printed. await waits for a call:
  await(smartstore.registerSoup, "people", { { path = "Id", type = "string" } })
  await(smartstore.querySoup, "people", smartstore.buildAllQuerySpec("Id"))
  await(mobilesync.reSync, "peopleDown")
Modules: smartstore, mobilesync, network, keyvalue, force, oauth, json.
Tab completes names and soups; `tureen exec --list` shows all calls.
Ctrl-C ends what runs; exit or Ctrl-D leaves.]]
local function help()
  print(HELP)
  return "done"
end
local function exit() return "exit" end
local words = { help = help, ["?"] = help, exit = exit, quit = exit }

--- Returns the function of a word, also one that is called, unless the script has a variable of that name.
local function word(text)
  local name = text:match "^%s*([%a?]+)%s*$" or text:match "^%s*(%a+)%s*%(%s*%)%s*$"
  return name and rawget(_G, name) == nil and words[name]
end

local verbs = {}

function verbs.setup(text)
  local columns, has_color = text:match("^(%d+) (%d)$")
  values.width, values.color = math.max(20, tonumber(columns)), has_color == "1"
  return ""
end

function verbs.line(text)
  local special = not typed and word(text)
  if special then return special() end
  typed = typed and (typed .. "\n" .. text) or text
  if not typed:find("%S") then
    typed = nil
    return state()
  end
  local fn = load("return " .. typed, "=repl", "t")
  local problem
  if not fn then fn, problem = load(typed, "=repl", "t") end
  if not fn and problem:find("<eof>$") then return "more" end
  values.asked = typed
  typed = nil
  if fn then run(fn) else complain(problem) end
  return state()
end

function verbs.poll()
  tureen.poll(0)
  return state()
end

function verbs.idle()
  local before = failures
  tureen.run()
  if failures > before then task = nil end
  return state()
end

--- Cancels the running statement. A second call leaves it running in the background.
function verbs.cancel()
  typed = nil
  if state() == "done" then return "done" end
  if cancelled then
    print "left running in the background"
    task = nil
    return "done"
  end
  cancelled = true
  task:cancel()
  return state()
end

function verbs.pending() return tostring(tureen.pending()) end
function verbs.fd() return tostring(tureen.fd()) end

function verbs.failed()
  tureen.run()
  if typed then complain "the last statement is not complete" end
  return tostring(failures)
end

-- Completion

local LAZY = { "force", "optimistic", "oauth", "sfaccountmanager", "accounts" } -- modules that are loaded on first access

--- Returns the names of a value's members, including those of the tables in its `__index` chain.
local function names_of(value)
  local names, seen = {}, {}
  while type(value) == "table" and not seen[value] do
    seen[value] = true
    for key in next, value do
      if type(key) == "string" and key:find("^[%a_][%w_]*$") then names[key] = true end
    end
    if value == tureen then for _, name in ipairs(LAZY) do names[name] = true end end
    local meta = getmetatable(value)
    value = type(meta) == "table" and rawget(meta, "__index")
  end
  return names
end

local function member(value, key)
  if type(value) == "string" then return string[key] end
  if type(value) ~= "table" then return nil end
  local ok, found = pcall(function() return value[key] end)
  return ok and found or nil
end

local KEYWORDS = { "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local",
  "nil", "not", "or", "repeat", "return", "then", "true", "until", "while" }

--- Returns the text after an opening quote that is not closed; nil if there is none.
local function open_string(line)
  local i, quote, start = 1, nil, nil
  while i <= #line do
    local c = line:sub(i, i)
    if quote then
      if c == "\\" then i = i + 1 elseif c == quote then quote = nil end
    elseif c == "'" or c == '"' then
      quote, start = c, i + 1
    end
    i = i + 1
  end
  return quote and line:sub(start)
end

function verbs.complete(line)
  local text = open_string(line)
  if text then return "soup\n" .. text end
  local path, prefix = line:match("([%a_][%w_%.:]*[%.:])([%w_]*)$"), line:match("[%w_]*$")
  local names
  if path then
    local value = _G
    for name in path:gmatch("[%a_][%w_]*") do value = member(value, name) end
    names = names_of(type(value) == "string" and string or value)
  else
    names = names_of(_G)
    for _, keyword in ipairs(KEYWORDS) do names[keyword] = true end
  end
  local found = {}
  for name in pairs(names) do
    if name:sub(1, #prefix) == prefix and (prefix ~= "" or not name:find("^_")) then found[#found + 1] = name end
  end
  table.sort(found)
  return #prefix .. "\n" .. table.concat(found, "\n")
end

-- Events

local shown = {} -- sync id -> the last progress shown

--- Shows the start and the end of a sync, and its progress in steps of 10 %.
local function show_sync(sync)
  local key = ("%s %s %s"):format(sync.storeName, sync.isGlobalStore, sync._soupEntryId)
  local progress = sync.progress or 0
  if sync.status == "RUNNING" and shown[key] and progress < shown[key] + 10 then return end
  shown[key] = sync.status == "RUNNING" and progress or nil
  local name = type(sync.name) == "string" and sync.name or ("%s of %s"):format(sync.type, sync.soupName)
  local total = (sync.totalSize or -1) >= 0 and (" of %d"):format(sync.totalSize) or ""
  print(values.paint("36", ("[sync] %s %s %d %%%s"):format(values.printable(name), sync.status, progress, total)))
end

tureen.on("sync", show_sync)
for _, name in ipairs { "syncConflict", "salesforceSessionRefresh", "sessionLost", "online", "offline", "pause", "resume" } do
  tureen.on(name, function(detail)
    local has_detail = detail ~= nil and detail ~= tureen.null
    local text = ("[%s] %s"):format(name, has_detail and values.inline(detail, 2, {}) or "")
    print(values.paint("36", values.shorten(text, values.width)))
  end)
end
tureen.onerror = function(err, traceback)
  reported = { err }
  show_error(err, traceback)
end

return function(verb, text) return verbs[verb](text) end
