--- Functions for the notifications of the signed-in user.
local core = ...
local answers = core.import "force_answers"
local client = core.import "force_files"

local define = client.define
local ID, DATA = { "notificationId", "string" }, { "data", "table" }

local function path_of(...) return client.path_of("connect", "notifications", ...) end
local function get(path, params) return { method = "GET", path = path, params = params } end

-- notifications(size?, before?, after?): {notifications = {...}}, the newest first; the times are ISO strings
define("notifications", {
  { "size", "integer", optional = true }, { "before", "string", optional = true }, { "after", "string", optional = true },
}, function(size, before, after) return get(path_of(), { size = size, before = before, after = after }) end)
-- notification(id): one notification
define("notification", { ID }, function(id) return get(path_of(id)) end)
-- notificationsStatus(): {hasUnseen, unseenCount, unreadCount, oldestUnseen, oldestUnread, lastActivity}
define("notificationsStatus", {}, function() return get(path_of("status")) end)
-- notificationTypes(): {notificationTypes = {...}}
define("notificationTypes", {}, function() return get(path_of("types")) end)
-- updateNotification(id, data): the updated notification; data contains read, seen or both
define("updateNotification", { ID, DATA }, function(id, data)
  return { method = "PATCH", path = path_of(id), data = data }
end)
-- updateNotifications(data): {notifications = {...}}, updated; data contains notificationIds or before, and read, seen or both
define("updateNotifications", { DATA }, function(data) return { method = "PATCH", path = path_of(), data = data } end)
-- notificationAction(id, action): the action's answer
define("notificationAction", { ID, { "action", "string" } }, function(id, action)
  return { method = "POST", path = path_of(id, "actions", action) }
end, answers.any)

return client
