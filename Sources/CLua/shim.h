// Lua's own headers, as Debian's liblua5.4-dev installs them.
// No `link` line stands in the module map: the library must use the Lua that loads it. A stock `lua5.4` carries its own
// copy of the interpreter, and a second one in the same process would not recognise the first one's states.
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>
#include <lua5.4/lauxlib.h>
