-- What luacheck looks at: the scripts, the Lua modules of the library and the Lua tests.
std = "lua54"
max_line_length = 120
files["Sources/LuaBridge/Lua"].max_line_length = 130
files["Sources/CRepl"].max_line_length = 130
files["Sources/CApexScript"].max_line_length = 130
files["Tests/Lua"].max_line_length = 130
files["bridge-spec/library"].max_line_length = false
files["Tests/Lua"].globals = { "expect", "test" }
files["bridge-spec/library"].ignore = { "2..", "11." } -- definitions for editors: functions without bodies
