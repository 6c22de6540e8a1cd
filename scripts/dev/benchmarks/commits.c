/* A library to preload that is a Lua module as well: `commits.last()` is when a transaction that wrote was last committed, in
 * seconds of benchclock's clock. It stands in front of sqlite3_step and looks at the clock when a COMMIT has returned. */
#include "bench.h"

#include <dlfcn.h>
#include <lauxlib.h>
#include <lua.h>
#include <sqlite3.h>
#include <stdatomic.h>

static _Atomic double last_commit;

int sqlite3_step(sqlite3_stmt *statement) {
  static int (*_Atomic real)(sqlite3_stmt *);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "sqlite3_step");
  const char *sql = sqlite3_sql(statement);
  int writes = sql && strcmp(sql, "COMMIT") == 0 &&
               sqlite3_txn_state(sqlite3_db_handle(statement), NULL) == SQLITE_TXN_WRITE;
  int result = real(statement);
  if (writes) atomic_store(&last_commit, bench_wall());
  return result;
}

static int last(lua_State *L) {
  lua_pushnumber(L, atomic_load(&last_commit));
  return 1;
}

int luaopen_commits(lua_State *L) {
  static const luaL_Reg functions[] = {{"last", last}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
