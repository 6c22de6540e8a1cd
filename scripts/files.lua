-- Files of the org: uploads a file, finds it among the user's own, uploads a second version, and downloads it again.
--
--   tureen run scripts/files.lua [FILE]
--
-- Without FILE it creates a small one. The script does not use the store, only requests with the org's session.
local tureen = require "tureen"
local client = require "tureen.force.client"
local network = tureen.network

local FILES = "/services/data/v66.0/connect/files"

local function wait_for(fn, ...)
  local value, err = tureen.await(fn, ...)
  if value == nil then error(err, 0) end
  return value
end

local function contents(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

--- Uploads a new file, or with `id` a new version of an existing one.
local function upload(path, title, id)
  return wait_for(network.sendRequest, {
    path = FILES .. (id and "/" .. id or "/users/me"), method = "POST", queryParams = { title = title },
    fileParams = { fileData = { fileUrl = path, fileName = path:match("[^/]*$"), fileMimeType = "text/plain" } },
  })
end

local function download(id, version)
  return network.bytes(wait_for(network.sendRequest, {
    path = ("%s/%s/content"):format(FILES, id), queryParams = version and { versionNumber = version },
    returnBinary = true,
  }))
end

local function main(path)
  local first = contents(path)
  local file = upload(path, "A note")
  print(("uploaded   %s, %d bytes"):format(file.title, file.contentSize))

  local mine = assert(client.ownedFilesList())
  for _, own in ipairs(mine.files) do
    if own.id == file.id then print(("found      %s among %d of my own"):format(own.title, #mine.files)) end
  end

  local changed = os.tmpname()
  do
    local out <close> = assert(io.open(changed, "wb"))
    out:write(first, "and one line more\n")
  end
  local again = upload(changed, "A note", file.id)
  print(("version    %s, %d bytes"):format(again.versionNumber, again.contentSize))

  local is_same = download(file.id) == contents(changed) and download(file.id, 1) == first
  os.remove(changed)
  print("downloaded " .. (is_same and "both versions, byte for byte" or "something else"))
  if not is_same then error("the downloaded file differs from the uploaded one", 0) end
end

--- Creates a small file, which is removed when the caller's scope ends.
local function made_up_file()
  local path = os.tmpname()
  local out <close> = assert(io.open(path, "wb"))
  out:write("Dear diary,\n")
  return setmetatable({ path = path }, { __close = function() os.remove(path) end })
end

tureen.main(function(path)
  if path then return main(path) end
  local own <close> = made_up_file()
  main(own.path)
end, arg and arg[1])
