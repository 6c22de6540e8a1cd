-- The repositories of an organisation, page by page: fetched from the server, stored in a soup, readable offline.
--
--   tureen run scripts/repositories.lua [--org NAME] [n|r|q ...]
--
-- Without --org it reads the organisation `orchard` of the sandbox's forge, which imitates GitHub; with it, that
-- organisation at https://api.github.com, with $GITHUB_TOKEN if it is set. On a terminal it asks: n fetches the next
-- page, r reloads, q quits. Otherwise it runs the commands on the command line and exits.
--
-- Run it again with `tureen run --offline` to see the last list.
local tureen = require "tureen"
local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync

local PAGE = 10 -- repositories on a page
local SOUP = "repositories"
local PLACEHOLDER = "(no picture)"

--- Reads the command line: the organisation (nil for the sandbox's) and the commands.
local function read_arguments()
  local org, keys, i = nil, {}, 1
  while arg and arg[i] do
    if arg[i] == "--org" then
      org, i = arg[i + 1] or error("--org needs a name", 0), i + 1
    elseif arg[i]:match "^[nrq]$" then
      keys[#keys + 1] = arg[i]
    else
      error(("'%s' is not an option: use --org NAME, n, r and q"):format(arg[i]), 0)
    end
    i = i + 1
  end
  return org, keys
end

--- Waits for a result. If the call fails, the script ends with its error.
local function wait_for(fn, ...)
  local value, err = tureen.await(fn, ...)
  if value == nil then error(err, 0) end
  return value
end

--- Returns the connection: the server's URL and the secret.
local function connection(org)
  if org then
    return {
      baseURL = "https://api.github.com", headers = { ["X-GitHub-Api-Version"] = "2022-11-28" }, maxParallel = 1,
      auth = { type = "bearer", token = { env = "GITHUB_TOKEN" }, optional = true },
      allowOrigins = { "https://avatars.githubusercontent.com" }, -- where the pictures are
    }
  end
  local forge = wait_for(tureen.sandbox.forge)
  return { baseURL = forge.url, auth = { type = "bearer", token = forge.tokens.ada } }
end

local function given(value) return value ~= nil and value ~= tureen.null end

--- 1, "issue" -> "1 issue"
local function counted(count, noun) return ("%d %s%s"):format(count, noun, count == 1 and "" or "s") end

--- Computes the line for a repository once, when it is stored.
mobilesync.registerTransform("repositories.line", function(item)
  item.line = table.concat({
    given(item.language) and item.language or "No Language", counted(item.forks_count, "fork"),
    counted(item.watchers_count, "watcher"), counted(item.open_issues_count, "issue"),
  }, ", ")
  return item
end)

--- Saves the sync if it does not exist yet.
local function set_up(org, name)
  wait_for(smartstore.registerSoup, SOUP, {
    { path = "id", type = "string" }, { path = "ownerLogin", type = "string" },
    { path = "updated_at", type = "string" },
  })
  if wait_for(mobilesync.hasSyncWithName, name) then return end
  wait_for(mobilesync.createSyncDown, {
    type = "rest", connection = "forge", url = "/orgs/{org}/repos", vars = { org = org },
    -- The order of the list, so that the next page belongs at its end.
    params = { per_page = tostring(PAGE), sort = "updated", direction = "desc" },
    modificationDateField = "updated_at", paging = { style = "link" },
    incremental = { mode = "sorted", params = { sort = "updated", direction = "desc" } },
    map = { ownerLogin = "owner.login" }, transform = "repositories.line",
    assets = { { field = "owner.avatar_url", store = "files" } },
  }, SOUP, { mergeMode = "OVERWRITE", maxPages = 1 }, name)
end

--- Returns the repositories in the soup, the last changed first.
local function stored(org)
  local sql = ([[SELECT {repositories:_soup} FROM {repositories} WHERE lower({repositories:ownerLogin}) = lower('%s')
    ORDER BY {repositories:updated_at} DESC, {repositories:id}]]):format((org:gsub("'", "''")))
  local list, cursor = {}, wait_for(smartstore.runSmartQuery, smartstore.buildSmartQuerySpec(sql, 10000))
  for i, row in ipairs(cursor.currentPageOrderedEntries) do list[i] = row[1] end
  return list
end

--- Returns the file name of the owner's picture, or a placeholder.
local function picture(repository)
  local path = given(repository.owner.avatar_url) and tureen.asset.path(repository.owner.avatar_url)
  if not path then return PLACEHOLDER end
  local hash, ending = path:match "(%x%x%x%x%x%x%x%x)%x*(%.?%a*)$"
  return ("(%s%s)"):format(hash, ending)
end

--- Prints a part of the list and returns its length.
local function show(org, from, to)
  local list = stored(org)
  for i = from, math.min(to, #list) do
    print(("%4d  %s %s"):format(i, picture(list[i]), list[i].full_name))
    print(("      %s"):format(list[i].line))
  end
  return #list
end

--- Fetches the first or the next page. Prints an error and leaves the list unchanged if that fails.
local function load(fn, name)
  local state, err = tureen.await(fn, name)
  if state then return state end
  print("not loaded: " .. err.message)
end

local function main()
  local given_org, keys = read_arguments()
  local org = given_org or "orchard"
  local name = ("%s of %s"):format(SOUP, org)
  tureen.configure { connections = { forge = connection(given_org) } }
  set_up(org, name)

  local shown, state, known = PAGE, load(mobilesync.refresh, name), 0

  local function tell(from)
    known = show(org, from, shown)
    shown = math.min(shown, known)
    local count = shown == 1 and "1 repository" or shown .. " repositories"
    local goes_on = shown < known or state and state.hasMore
    print(("%s of %s%s"):format(count, org, goes_on and ", and more with n" or ""))
  end

  local function press(key)
    if key == "n" then
      if shown == known or state and state.hasMore then state = load(mobilesync.more, name) or state end
      shown = shown + PAGE
      return tell(shown - PAGE + 1)
    end
    state, shown = load(mobilesync.refresh, name), PAGE
    tell(1)
  end

  tell(1)
  local is_asking = #keys == 0 and os.execute "test -t 0 && test -t 1"
  local position = 0
  local function next_key()
    if not is_asking then
      position = position + 1
      return keys[position]
    end
    io.write "n next page, r refresh, q quit: "
    io.flush()
    local line = io.read "l"
    return line and line:match "^%s*(.-)%s*$"
  end
  for key in next_key do
    if key == "q" then break end
    if key == "n" or key == "r" then press(key) end
  end
  return not state and known == 0 and 1 or 0
end

tureen.main(main)
