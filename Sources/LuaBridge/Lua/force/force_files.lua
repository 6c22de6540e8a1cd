--- Functions for the org's files: lists of files, their details, and whom they are shared with. Pages count from 0.
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

-- ownedFilesList(userId?, page?): the files that a user owns; userId defaults to the signed-in user
define("ownedFilesList", { USER, PAGE }, list "")
-- filesInUsersGroups(userId?, page?): the files of a user's groups
define("filesInUsersGroups", { USER, PAGE }, list "/filter/groups")
-- filesSharedWithUser(userId?, page?): the files that others share with a user
define("filesSharedWithUser", { USER, PAGE }, list "/filter/sharedwithme")
-- fileDetails(fileId, version?): the details of a version of a file, by default of the latest one
define("fileDetails", { FILE, { "version", "string", optional = true } }, function(id, version)
  return get(client.path_of("connect", "files", id), version and { versionNumber = version })
end)
-- batchFileDetails(fileIds): {results = {...}}
define("batchFileDetails", { { "fileIds", "strings" } }, function(ids)
  return get(client.path_of("connect", "files", "batch") .. "/" .. table.concat(ids, ","))
end)
-- fileShares(fileId, page?): the users and groups that a file is shared with
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
