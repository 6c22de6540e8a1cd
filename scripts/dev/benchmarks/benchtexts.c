/* The module benchtexts: a page of texts read with SQLite's C API, the least that a script's library can do.
 *
 * open(file, sql) -> page: page() gives a list of the first column's texts. The statement is prepared once. */
#include <lauxlib.h>
#include <lua.h>
#include <sqlite3.h>

typedef struct {
  sqlite3 *db;
  sqlite3_stmt *statement;
} page;

static int read_page(lua_State *L) {
  page *p = luaL_checkudata(L, 1, "benchtexts");
  int status;
  lua_newtable(L);
  for (lua_Integer i = 1; (status = sqlite3_step(p->statement)) == SQLITE_ROW; i++) {
    const char *text = (const char *)sqlite3_column_text(p->statement, 0);
    lua_pushlstring(L, text, (size_t)sqlite3_column_bytes(p->statement, 0));
    lua_rawseti(L, -2, i);
  }
  sqlite3_reset(p->statement);
  return status == SQLITE_DONE ? 1 : luaL_error(L, "%s", sqlite3_errmsg(p->db));
}

static int close_page(lua_State *L) {
  page *p = luaL_checkudata(L, 1, "benchtexts");
  sqlite3_finalize(p->statement);
  sqlite3_close(p->db);
  *p = (page){NULL, NULL};
  return 0;
}

static int open_page(lua_State *L) {
  const char *file = luaL_checkstring(L, 1), *sql = luaL_checkstring(L, 2);
  page *p = lua_newuserdatauv(L, sizeof *p, 0);
  *p = (page){NULL, NULL};
  luaL_setmetatable(L, "benchtexts");
  if (sqlite3_open_v2(file, &p->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
      sqlite3_prepare_v2(p->db, sql, -1, &p->statement, NULL) != SQLITE_OK)
    return luaL_error(L, "%s: %s", file, p->db ? sqlite3_errmsg(p->db) : "cannot be opened");
  return 1;
}

int luaopen_benchtexts(lua_State *L) {
  static const luaL_Reg functions[] = {{"open", open_page}, {NULL, NULL}};
  static const luaL_Reg operators[] = {{"__call", read_page}, {"__close", close_page}, {"__gc", close_page}, {NULL, NULL}};
  luaL_newmetatable(L, "benchtexts");
  luaL_setfuncs(L, operators, 0);
  luaL_newlib(L, functions);
  return 1;
}
