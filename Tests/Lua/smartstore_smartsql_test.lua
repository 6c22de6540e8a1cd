--- Tests smart SQL in scripts, on a real store with employees and departments as in the SDK's examples.
local tureen = require "tureen"
local harness = require "harness"
local support = require "smartstore_support"
local same = harness.same
local case, ok, fails, rows = harness.case, support.ok, support.fails, support.rows
local smartstore = tureen.smartstore

local tests = {}
local array, null = tureen.array, tureen.null

local function employee(first, last, dept, id, manager, salary, is_manager)
  return {
    firstName = first, lastName = last, deptCode = dept, employeeId = id, managerId = manager, salary = salary,
    isManager = is_manager, education = { school = first == "Eva" and "Graz" or "Wien", year = 1990 + #last },
  }
end

local function company(body)
  return case(function()
    support.soup("employees", "firstName", "string", "lastName", "string", "deptCode", "string", "employeeId", "string",
      "managerId", "string", "salary", "integer", "isManager", "json1", "rate", "floating")
    support.soup("departments", "deptCode", "string", "name", "string", "budget", "integer", "building", "json1")
    ok("upsertSoupEntries", "employees", {
      employee("Christine", "Haas", "A00", "00010", nil, 200000, true),
      employee("Michael", "Thompson", "A00", "00020", "00010", 120000, false),
      employee("Sally", "Kwan", "A00", "00310", "00010", 100000, false),
      employee("John", "Geyer", "B00", "00040", nil, 102000, true),
      employee("Irving", "Stern", "B00", "00050", "00040", 100000, true),
      employee("Eva", "Pulaski", "B00", "00060", "00050", 80000, false),
      employee("Eileen", "Henderson", "B00", "00070", "00050", 70000, false),
    })
    ok("upsertSoupEntries", "departments", {
      { deptCode = "A00", name = "Sales", budget = 1000000, building = 1 },
      { deptCode = "B00", name = "R&D", budget = 2000000, building = 2 },
    })
    body()
    ok("removeSoup", "employees")
    ok("removeSoup", "departments")
  end)
end

--- Expects the rows of a query, numbers and texts, as JSON.
local function gives(sql, wanted) same(tureen.json.encode(rows(sql)), wanted, sql) end

tests.test_count_and_sum = company(function()
  gives("select count(*) from {employees}", "[[7]]")
  gives("select sum({departments:budget}) from {departments}", "[[3000000]]")
end)

tests.test_integers_of_one_row_of_two_and_through_a_self_join = company(function()
  gives("select {employees:salary} from {employees} where {employees:lastName} = 'Haas'", "[[200000]]")
  gives([[select mgr.{employees:salary}, e.{employees:salary} from {employees} as mgr, {employees} as e
    where e.{employees:lastName} = 'Thompson' and mgr.{employees:employeeId} = e.{employees:managerId}]],
    "[[200000,120000]]")
  gives([[select {employees:salary} from {employees} where {employees:managerId} = '00010'
    order by {employees:firstName}]], "[[120000],[100000]]")
end)

tests.test_join_of_two_soups = company(function()
  gives([[select {departments:name}, {employees:firstName} || ' ' || {employees:lastName}
    from {employees}, {departments} where {employees:deptCode} = {departments:deptCode}
    and {employees:salary} > 110000 order by {employees:firstName}]],
    '[["Sales","Christine Haas"],["Sales","Michael Thompson"]]')
end)

tests.test_row_of_entry_text_and_number = company(function()
  local row = rows [[select {employees:_soup}, {employees:firstName}, {employees:salary} from {employees}
    where {employees:lastName} = 'Haas']][1]
  same(row[1].employeeId, "00010")
  same(row[1].education.year, 1994)
  same(array { row[2], row[3], #row }, array { "Christine", 200000, 3 })
end)

tests.test_pages_of_one_row = company(function()
  local sql = "select {employees:firstName} from {employees} order by {employees:firstName}"
  local cursor = ok("runSmartQuery", smartstore.buildSmartQuerySpec(sql, 1))
  same(cursor.totalEntries, 7)
  local seen = array()
  while true do
    seen[#seen + 1] = cursor.currentPageOrderedEntries[1][1]
    if cursor.currentPageIndex == cursor.totalPages - 1 then break end
    cursor = ok("moveCursorToNextPage", cursor)
  end
  same(seen, array { "Christine", "Eileen", "Eva", "Irving", "John", "Michael", "Sally" })
  ok("closeCursor", cursor)
end)

tests.test_special_fields_are_the_entrys_own = company(function()
  local row = rows [[select {employees:_soup}, {employees:_soupEntryId}, {employees:_soupLastModifiedDate},
    {employees:_soupCreatedDate} from {employees} where {employees:lastName} = 'Haas']][1]
  same(row[2], row[1]._soupEntryId)
  same(row[3], row[1]._soupLastModifiedDate)
  same(row[4], row[3])
end)

tests.test_null_missing_and_empty_are_told_apart = company(function()
  ok("upsertSoupEntries", "employees", {
    { employeeId = "null", firstName = null }, { employeeId = "missing" }, { employeeId = "empty", firstName = "" } })
  gives("select {employees:employeeId} from {employees} where {employees:firstName} is null order by 1",
    '[["missing"],["null"]]')
  gives('select {employees:employeeId} from {employees} where {employees:firstName} = ""', '[["empty"]]')
  gives("select count(*) from {employees} where {employees:firstName} is not null", "[[8]]")
  gives([[select {employees:firstName}, {employees:employeeId}, {employees:firstName} from {employees}
    where {employees:employeeId} = 'null']], '[[null,"null",null]]')
end)

tests.test_booleans_of_a_json1_index = company(function()
  gives("select {employees:firstName} from {employees} where {employees:isManager} = 1 order by 1",
    '[["Christine"],["Irving"],["John"]]')
  gives("select count(*) from {employees} where {employees:isManager} = 0", "[[4]]")
end)

tests.test_like_knows_letters_beyond_ascii = case(function()
  support.soup("letters", "s", "string", "j", "json1")
  for _, name in ipairs { "Göktuğ Yılmaz", "한글 이름" } do
    ok("upsertSoupEntries", "letters", { { s = name, j = name, n = { x = name } } })
  end
  for _, path in ipairs { "s", "j", "n.x" } do
    local sql = "select {letters:s} from {letters} where {letters:" .. path .. "} like "
    gives(sql .. "'%ktuğ Y%'", '[["Göktuğ Yılmaz"]]')
    gives(sql .. "'한글%'", '[["한글 이름"]]')
  end
  ok("removeSoup", "letters")
end)

tests.test_fields_without_an_index = company(function()
  gives([[select {employees:education.school}, {employees:education.year} from {employees}
    where {employees:education.school} = 'Graz']], '[["Graz",1997]]')
  gives("select {employees:firstName} from {employees} where {employees:education.year} = 1999", '[["Eileen"]]')
end)

tests.test_arguments_fill_the_placeholders = company(function()
  local spec = smartstore.buildSmartQuerySpec([[select {employees:firstName} from {employees}
    where {employees:salary} >= ? and {employees:deptCode} = ? order by 1]], 10)
  spec.args = { 100000, "A00" }
  local cursor = ok("runSmartQuery", spec)
  same(cursor.totalEntries, 3)
  same(cursor.currentPageOrderedEntries, array { array { "Christine" }, array { "Michael" }, array { "Sally" } })
  ok("closeCursor", cursor)
  local exact = smartstore.buildExactQuerySpec("firstName", "Eva")
  exact.args = { "x" }
  fails("smartstore/invalidQuerySpec", "querySoup", "employees", exact)
end)

tests.test_booleans_as_arguments = case(function()
  support.soup("tasks", "Id", "string", "open", "string", "done", "json1")
  ok("upsertSoupEntries", "tasks", {
    { Id = "a", open = true, done = false, left = true }, { Id = "b", open = false, done = true, left = false } })
  local function finds(wanted, condition, ...)
    local spec = smartstore.buildSmartQuerySpec("select {tasks:Id} from {tasks} where " .. condition .. " order by 1", 10)
    spec.args = { ... }
    local ids = {}
    for i, row in ipairs(support.found(nil, spec)) do ids[i] = row[1] end
    same(table.concat(ids, " "), wanted, condition)
  end
  finds("a", "{tasks:open} = ?", true)
  finds("b", "{tasks:open} <> ?", true)
  finds("b", "? = {tasks:open}", false)
  finds("a b", "{tasks:open} in (?, ?)", true, false)
  finds("b", "{tasks:Id} = ? and {tasks:done} = ? and {tasks:open} is not ?", "b", true, true)
  finds("a", "{tasks:left} = ? and {tasks:done} = ?", true, false)
  finds("a", "{tasks:open} = 'true' and 1 = ?", true)
  ok("removeSoup", "tasks")
end)

tests.test_comparisons_on_integers = company(function()
  local function where(condition, wanted)
    gives("select {employees:firstName} from {employees} where {employees:salary} " .. condition ..
      " order by lower({employees:firstName})", wanted)
  end
  where("!= 100000", '[["Christine"],["Eileen"],["Eva"],["John"],["Michael"]]')
  where("= 100000", '[["Irving"],["Sally"]]')
  where("< 80000", '[["Eileen"]]')
  where("<= 80000", '[["Eileen"],["Eva"]]')
  where("> 120000", '[["Christine"]]')
  where(">= 120000", '[["Christine"],["Michael"]]')
end)

tests.test_like_in_two_orders_and_in_lists = case(function()
  support.stuff("stuff")
  gives("select {stuff:Name} from {stuff} where {stuff:Name} like '%bo%' order by {stuff:Name}",
    '[["Pro Bono Bonobo"],["Robot"]]')
  local entries = rows [[select {stuff:_soup} from {stuff} where {stuff:Name} like '%bo%'
    order by lower({stuff:Name}) desc]]
  same(array { entries[1][1].Id, entries[2][1].Id, #entries[1], #entries }, array { "00300C", "00300B", 1, 2 })
  gives("select {stuff:Name} from {stuff} where {stuff:Id} in ('00300A','00300B') order by 1",
    '[["Pro Bono Bonobo"],["Todd Stellanova"]]')
  gives([[select {stuff:Name}, {stuff:Id} from {stuff} where {stuff:Id} in ('00300A','00300B')
    order by lower({stuff:Name})]],
    '[["Pro Bono Bonobo","00300B"],["Todd Stellanova","00300A"]]')
  gives("select count(*) from {stuff}", "[[3]]")
  ok("removeSoup", "stuff")
end)

tests.test_whole_entries_of_two_soups_in_one_row = case(function()
  support.soup("a", "k", "string")
  support.soup("b", "k", "string")
  ok("upsertSoupEntries", "a", { { k = "1", from = "a" }, { k = "2", from = "a" } })
  ok("upsertSoupEntries", "b", { { k = "2", from = "b" } })
  local all = rows "select {a:_soup} from {a} order by {a:k} desc"
  same(array { all[1][1].k, all[2][1].k }, array { "2", "1" })
  local both = rows "select {a:_soup}, {b:_soup}, {a:_soup} as other from {a}, {b} where {a:k} = {b:k}"
  same(array { #both, both[1][1].from, both[1][2].from, type(both[1][3]) }, array { 1, "a", "b", "string" })
  gives("select json_extract({a:_soup}, '$.from') from {a} where {a:k} = '1'", '[["a"]]')
  ok("removeSoup", "a")
  ok("removeSoup", "b")
end)

tests.test_aggregates_over_each_kind_of_number = case(function()
  support.soup("sums", "f", "floating", "j", "json1", "i", "integer", "s", "string")
  ok("upsertSoupEntries", "sums", { { f = 10.2, j = 10.2, i = 7, s = "va1" }, { f = 9.9, j = 9.9, i = 8, s = "va2" },
    { s = "va1" } })
  same(("%.6f"):format(rows("select sum({sums:f}) from {sums}")[1][1]), "20.100000")
  same(("%.6f"):format(rows("select sum({sums:j}) from {sums}")[1][1]), "20.100000")
  gives("select {sums:i}, {sums:f}, {sums:j} from {sums} where {sums:i} = 7", "[[7,10.2,10.2]]")
  local cursor = ok("runSmartQuery", smartstore.buildSmartQuerySpec(
    "select {sums:s}, count(*) from {sums} group by {sums:s} order by 1", 1))
  same(cursor.totalEntries, 2, "a count of groups")
  same(cursor.currentPageOrderedEntries, array { array { "va1", 2 } })
  ok("closeCursor", cursor)
  ok("removeSoup", "sums")
end)

tests.test_writing_is_refused_in_every_disguise = company(function()
  for _, sql in ipairs {
    "delete from {employees}", "insert into {employees} (soup) values ('')", "update {employees} set soup = ''",
    "replace into {employees} (soup) values ('')", " /* select */ delete from {employees}",
    "-- select\ndelete from {employees}",
    "with x as (select 1) delete from {employees}", "select 1) limit 1; delete from {employees} -- ",
    "pragma user_version = 7", "attach ':memory:' as x", "select * from pragma_journal_mode('delete')",
  } do
    local value, err = tureen.await(smartstore.runSmartQuery, smartstore.buildSmartQuerySpec(sql))
    same(value, nil, sql)
    same(err.domain, "smartstore", sql)
    assert(err.code == "notReadOnly" or err.code == "invalidSmartSql", sql .. ": " .. err.code)
  end
  local spec = smartstore.buildSmartQuerySpec("delete from {employees}")
  same(fails("smartstore/notReadOnly", "runSmartQuery", spec).message, "Only SELECT are supported")
  gives("select count(*) from {employees}", "[[7]]")
end)

tests.test_braces_in_literals_stay = company(function()
  gives("select '{a:b}', {employees:salary} from {employees} where {employees:lastName} = 'Haas' and '{' like '{'",
    '[["{a:b}",200000]]')
  local spec = smartstore.buildSmartQuerySpec("select {employees:a:b} from {employees}")
  fails("smartstore/invalidSmartSql", "runSmartQuery", spec)
end)

harness.run(tests)
