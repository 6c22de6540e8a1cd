local harness = require "harness"
local parse = require "tureen.parse"
local support = require "parse_support"
local tureen = require "tureen"

local case, fails, same = harness.case, support.fails, harness.same
local tests = {}

tests.test_sign_up_log_in_and_out = case(function()
  local user = assert(parse.signUp { username = "ada", password = "one", email = "ada@example.com" })
  same(user:get "username", "ada")
  same(user:get "password", nil)
  same(user:get "sessionToken", nil)
  same(assert(parse.currentUser()):get "email", "ada@example.com")
  same(fails("httpStatus", parse.signUp { username = "ada", password = "x" }).parseCode, 202)
  same(parse.logOut(), "OK")
  same(parse.currentUser(), tureen.null)
  same(parse.logOut(), "OK", "nobody is signed in")
  same(fails("httpStatus", parse.logIn("ada", "wrong")).parseCode, 101)
  same(assert(parse.logIn("ada", "one")).objectId, user.objectId)
  assert(parse.logOut())
end)

tests.test_objects_belong_to_the_user_who_is_signed_in = case(function()
  local Diary = support.class "UserDiary"
  local eve = assert(parse.signUp { username = "eve", password = "one" })
  assert(Diary { text = "mine", ACL = { [eve.objectId] = { read = true, write = true } } }:save())
  same(Diary:query():count(), 1)
  assert(parse.logOut())
  same(Diary:query():count(), 0)
  assert(parse.logIn("eve", "one"))
  same(Diary:query():count(), 1)
  assert(parse.logOut())
end)

tests.test_a_changed_password_brings_a_new_session_which_the_next_call_uses = case(function()
  local user = assert(parse.signUp { username = "bob", password = "one" })
  assert(user:set("password", "two"):save())
  same(user:get "password", nil)
  same(user:get "sessionToken", nil)
  same(assert(parse.currentUser()):get "username", "bob")
  assert(user:set("nick", "b"):save())
  assert(parse.logOut())
  fails("httpStatus", parse.logIn("bob", "one"))
  assert(parse.logIn("bob", "two"))
  assert(parse.logOut())
end)

harness.run(tests)
