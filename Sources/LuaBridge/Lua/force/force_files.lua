--- Files of the org: the lists of a user, their details, and who shares them. Pages count from 0.
local core = ...
local answers = core.import "force_answers"
local client = core.import "force_client"

local define = client.define
local USER, PAGE = { "userId", "string", optional = true }, { "page", "integer", optional = true }
local FILE = { "fileId", "string" }

local function get(path, params) return { method = "GET", path = path, params = params } end

local function list(filter)
  return function(user, page)
    local path = client.path_of("connect", "files", "users", user or "me")
    return get(path .. filter, page and { page = page })
  end
end

-- ownedFilesList(userId?, page?): files a user owns; nil: who is signed in
define("ownedFilesList", { USER, PAGE }, list "")
-- filesInUsersGroups(userId?, page?): files of the groups a user is in
define("filesInUsersGroups", { USER, PAGE }, list "/filter/groups")
-- filesSharedWithUser(userId?, page?): files others share with a user
define("filesSharedWithUser", { USER, PAGE }, list "/filter/sharedwithme")
-- fileDetails(fileId, version?): of the latest version when none is given
define("fileDetails", { FILE, { "version", "string", optional = true } }, function(id, version)
  return get(client.path_of("connect", "files", id), version and { versionNumber = version })
end)
-- batchFileDetails(fileIds): {results = {...}}
define("batchFileDetails", { { "fileIds", "strings" } }, function(ids)
  return get(client.path_of("connect", "files", "batch") .. "/" .. table.concat(ids, ","))
end)
-- fileShares(fileId, page?): who a file is shared with
define("fileShares", { FILE, PAGE }, function(id, page)
  return get(client.path_of("connect", "files", id, "file-shares"), page and { page = page })
end)
-- addFileShare(fileId, entityId, shareType): {id, success, errors}
define("addFileShare", { FILE, { "entityId", "string" }, { "shareType", "string" } }, function(file, entity, share_type)
  return {
    method = "POST", path = client.path_of("sobjects", "ContentDocumentLink", ""),
    data = { ContentDocumentId = file, LinkedEntityId = entity, ShareType = share_type },
  }
end, answers.created)
-- deleteFileShare(shareId): "OK"
define("deleteFileShare", { { "shareId", "string" } }, function(id)
  return { method = "DELETE", path = client.path_of("sobjects", "ContentDocumentLink", id) }
end, answers.nothing)

return client
