/* Two Lua states in one process, each with a home of its own: on one thread, then on two; one closes while the other syncs.
 * Usage: two_states HOME; the org comes from the environment and holds its pages back until "closed one" was printed. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <tureen.h>

#include "check.h"

static const char begin[] =
    "local home = ...\n"
    "local t = require 'tureen'\n"
    "t.configure { home = home }\n"
    "t.smartstore.registerSoup('c', { { path = 'Id', type = 'string' } })\n"
    "pages, ended = 0, nil\n"
    "t.mobilesync.syncDown({ type = 'soql', query = 'SELECT Id, LastModifiedDate FROM Contact' }, 'c', {}, 'down',\n"
    "  function(sync)\n"
    "    if sync.progress > 0 then pages = pages + 1 end\n"
    "    if sync.status ~= 'RUNNING' then ended = sync.status end\n"
    "  end, function(err) io.stderr:write(tostring(err), '\\n') os.exit(1) end)\n"
    "while pages == 0 do t.poll(1000) end\n";
static const char finish[] =
    "local t = require 'tureen'\n"
    "while not ended do t.poll(1000) end\n"
    "t.smartstore.runSmartQuery(t.smartstore.buildSmartQuerySpec('SELECT count(*) FROM {c}', 1),\n"
    "  function(cursor) count = cursor.currentPageOrderedEntries[1][1] end)\n"
    "assert(t.run())\n"
    "return ended .. ' ' .. count\n";

static void run(lua_State *L, const char *script, const char *argument) {
  if (luaL_loadstring(L, script) == LUA_OK) {
    lua_pushstring(L, argument);
    if (lua_pcall(L, 1, 1, 0) == LUA_OK) return;
  }
  fprintf(stderr, "%s\n", luaL_tolstring(L, -1, NULL));
  exit(1);
}

static lua_State *open_state(void) {
  lua_State *L = luaL_newstate();
  CHECK(L != NULL);
  luaL_openlibs(L);
  luaL_requiref(L, "tureen", luaopen_tureen, 0);
  lua_settop(L, 0);
  return L;
}

/* One state on a thread of its own: syncs to the end. */
static void *on_a_thread(void *home) {
  lua_State *L = open_state();
  run(L, begin, home);
  run(L, finish, NULL);
  CHECK(strcmp(lua_tostring(L, -1), "DONE 2000") == 0);
  lua_close(L);
  return NULL;
}

int main(int count, char **arguments) {
  CHECK(count == 2);
  char homes[4][1024];
  for (int i = 0; i < 4; i++) snprintf(homes[i], sizeof homes[i], "%s/%d", arguments[1], i);
  lua_State *a = open_state(), *b = open_state();
  run(a, begin, homes[0]);
  run(b, begin, homes[1]);
  lua_close(a);
  puts("closed one");
  fflush(stdout);
  run(b, finish, NULL);
  printf("the other: %s\n", lua_tostring(b, -1));
  lua_close(b);

  pthread_t threads[2];
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, on_a_thread, homes[2 + i]) == 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  CHECK(signals_are_untouched());
  puts("both threads: DONE");
  return 0;
}
