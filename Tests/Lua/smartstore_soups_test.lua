--- Tests stores and soups in scripts, on real stores.
local tureen = require "tureen"
local harness = require "harness"
local support = require "smartstore_support"
local same, raises = harness.same, harness.raises
local case, ok, fails = harness.case, support.ok, support.fails
local smartstore = tureen.smartstore

local tests = {}

local SPECS = { { path = "Name", type = "string" }, { path = "Id", type = "string" } }
local USER, GLOBAL = { isGlobalStore = false }, { isGlobalStore = true }

tests.test_soup_of_one_name_in_user_and_global_store_is_two = case(function()
  local function exist(in_user, in_global)
    same(ok("soupExists", USER, "twice"), in_user)
    same(ok("soupExists", GLOBAL, "twice"), in_global)
  end
  ok("removeSoup", USER, "twice")
  ok("removeSoup", GLOBAL, "twice")
  exist(false, false)
  same(ok("registerSoup", GLOBAL, "twice", SPECS), "twice")
  exist(false, true)
  same(ok("registerSoup", USER, "twice", SPECS), "twice")
  exist(true, true)
  same(ok("removeSoup", GLOBAL, "twice"), "OK")
  exist(true, false)
  same(ok("removeSoup", USER, "twice"), "OK")
  exist(false, false)
end)

tests.test_register_again_and_remove = case(function()
  ok("removeSoup", "again")
  same(ok("soupExists", "again"), false)
  same(ok("registerSoup", "again", SPECS), "again")
  same(ok("soupExists", "again"), true)
  same(ok("registerSoup", "again", SPECS), "again")
  same(ok("registerSoup", "again", { { path = "other", type = "integer" } }), "again")
  same(ok("getSoupIndexSpecs", "again"), tureen.array(SPECS), "the specs of the first time stay")
  same(ok("removeSoup", "again"), "OK")
  same(ok("soupExists", "again"), false)
  same(ok("removeSoup", "again"), "OK", "also when there is none")
end)

tests.test_register_without_name_or_indexes_fails = case(function()
  raises("registerSoup: argument 1 must not be null; omit the store config or pass one", smartstore.registerSoup,
    tureen.null, SPECS)
  raises("registerSoup: argument 2 'soupName' must be a string, got null", smartstore.registerSoup, USER, tureen.null,
    SPECS)
  fails("smartstore/invalidSoupName", "registerSoup", "", SPECS)
  fails("smartstore/invalidIndexSpec", "registerSoup", "bare", {})
  same(ok("soupExists", "bare"), false)
end)

tests.test_register_bad_index_specs_fails_and_names_them = case(function()
  local err = fails("smartstore/invalidIndexSpec", "registerSoup", "bad", { SPECS[1], { path = "Id", type = "text" } })
  assert(err.message:find("'text'", 1, true) and err.message:find("'full_text'", 1, true), err.message)
  fails("bridge/invalidArguments", "registerSoup", "bad", { { type = "string" } })
  fails("smartstore/invalidIndexSpec", "registerSoup", "bad", { { path = "", type = "string" } })
  fails("smartstore/invalidIndexSpec", "registerSoup", "bad", { SPECS[1], SPECS[1] })
  same(ok("soupExists", "bad"), false)
end)

tests.test_register_arbitrary_name = case(function()
  local name = "123This should-be a_valid.soup+name!?100"
  support.stuff(name)
  same(ok("soupExists", name), true)
  same(support.rows("select count(*) from {" .. name .. "}"), tureen.array { tureen.array { 3 } })
  ok("removeSoup", name)
end)

local function two_stores(is_global, list, remove_all)
  same(ok(remove_all), true)
  same(ok(list), tureen.array())
  local first = { isGlobalStore = is_global, storeName = "storeA" }
  local second = { isGlobalStore = is_global, storeName = "storeB" }
  ok("registerSoup", first, "soupA", SPECS)
  ok("registerSoup", second, "soupB", SPECS)
  same(ok("soupExists", first, "soupA"), true)
  same(ok("soupExists", first, "soupB"), false)
  same(ok("soupExists", second, "soupA"), false)
  same(ok("soupExists", second, "soupB"), true)
  same(ok(list), tureen.array {
    { storeName = "storeA", isGlobalStore = is_global }, { storeName = "storeB", isGlobalStore = is_global } })
  same(ok("removeStore", first), true)
  same(ok(list), tureen.array { { storeName = "storeB", isGlobalStore = is_global } })
  same(ok("removeStore", second), true)
  same(ok("removeStore", second), true, "also when there is none")
  same(ok(list), tureen.array())
end

tests.test_user_stores_are_apart_listed_and_removed = case(function()
  two_stores(false, "getAllStores", "removeAllStores")
end)

tests.test_global_stores_are_apart_listed_and_removed = case(function()
  two_stores(true, "getAllGlobalStores", "removeAllGlobalStores")
end)

tests.test_stores_whose_names_are_parts_of_each_other = case(function()
  ok("removeAllStores")
  local names = { "my", "mystore", "store", "store_my", "STORE" }
  for _, name in ipairs(names) do ok("registerSoup", { isGlobalStore = false, storeName = name }, name, SPECS) end
  ok("registerSoup", { isGlobalStore = true, storeName = "store" }, "kept", SPECS)
  ok("removeStore", { isGlobalStore = false, storeName = "store" })
  same(#ok("getAllStores"), 4)
  for _, name in ipairs { "my", "mystore", "store_my", "STORE" } do
    same(ok("soupExists", { isGlobalStore = false, storeName = name }, name), true, name)
  end
  same(ok("soupExists", { isGlobalStore = true, storeName = "store" }, "kept"), true)
  ok("removeAllStores")
  ok("removeStore", { isGlobalStore = true, storeName = "store" })
end)

tests.test_index_specs_come_back_in_order = case(function()
  local specs = {
    { path = "s", type = "string" }, { path = "i", type = "integer" }, { path = "f.x", type = "floating" },
    { path = "j", type = "json1" } }
  ok("registerSoup", "typed", specs)
  same(ok("getSoupIndexSpecs", "typed"), tureen.array(specs))
  fails("smartstore/noSuchSoup", "getSoupIndexSpecs", "nowhere")
  ok("removeSoup", "typed")
end)

tests.test_unknown_soup_is_an_error_everywhere = case(function()
  local all = smartstore.buildAllQuerySpec("Name")
  same(fails("smartstore/noSuchSoup", "clearSoup", "nowhere").message, "Soup: nowhere does not exist")
  fails("smartstore/noSuchSoup", "upsertSoupEntries", "nowhere", { {} })
  fails("smartstore/noSuchSoup", "retrieveSoupEntries", "nowhere", { 1 })
  fails("smartstore/noSuchSoup", "removeFromSoup", "nowhere", { 1 })
  fails("smartstore/noSuchSoup", "removeFromSoup", "nowhere", all)
  fails("smartstore/noSuchSoup", "querySoup", "nowhere", all)
  local spec = smartstore.buildSmartQuerySpec("select 1 from {nowhere}")
  same(fails("smartstore/noSuchSoup", "runSmartQuery", spec).message, "Unknown soup nowhere at character 14")
end)

tests.test_database_size_grows = case(function()
  local store = { isGlobalStore = false, storeName = "size" }
  local before = ok("getDatabaseSize", store)
  assert(before > 0)
  ok("registerSoup", store, "s", SPECS)
  ok("upsertSoupEntries", store, "s", support.generated(2000))
  assert(ok("getDatabaseSize", store) > before)
  ok("removeStore", store)
end)

harness.run(tests)
