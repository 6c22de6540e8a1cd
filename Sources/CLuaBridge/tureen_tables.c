/* The functions of `table` that walk a table, for scripts with limits: like Lua's, but each element counts as an instruction. A
 * metamethod can return any length, and can be a C function, which no hook interrupts. */
#include "tureen_guards.h"

enum { READS = 1, WRITES = 2, HAS_LENGTH = 4 };

static int has_method(lua_State *L, int metatable, const char *name) {
  lua_pushstring(L, name);
  int found = lua_rawget(L, metatable) != LUA_TNIL;
  lua_pop(L, 1);
  return found;
}

/* Checks that the argument is a table or has the needed metamethods.                                    [-0, +0, v] */
static void check_table(lua_State *L, int argument, int needs) {
  if (lua_type(L, argument) == LUA_TTABLE) return;
  if (lua_getmetatable(L, argument)) {
    int metatable = lua_gettop(L);
    if ((!(needs & READS) || has_method(L, metatable, "__index")) &&
        (!(needs & WRITES) || has_method(L, metatable, "__newindex")) &&
        (!(needs & HAS_LENGTH) || has_method(L, metatable, "__len"))) {
      lua_pop(L, 1);
      return;
    }
  }
  luaL_checktype(L, argument, LUA_TTABLE);
}

static lua_Integer checked_length(lua_State *L, int needs) {
  check_table(L, 1, needs | HAS_LENGTH);
  return luaL_len(L, 1);
}

/* Moves one element of the table at `from` to the table at `to`, and counts it.                         [-0, +0, e] */
static void move_one(lua_State *L, int from, lua_Integer at, int to, lua_Integer where) {
  tureen_meter_work(L, 1);
  lua_geti(L, from, at);
  lua_seti(L, to, where);
}

static int tables_insert(lua_State *L) {
  lua_Integer end = (lua_Integer)((lua_Unsigned)checked_length(L, READS | WRITES) + 1), position = end;
  switch (lua_gettop(L)) {
    case 2: break;
    case 3:
      position = luaL_checkinteger(L, 2);
      luaL_argcheck(L, (lua_Unsigned)position - 1u < (lua_Unsigned)end, 2, "position out of bounds");
      for (lua_Integer i = end; i > position; i--) move_one(L, 1, i - 1, 1, i);
      break;
    default: return luaL_error(L, "wrong number of arguments to 'insert'");
  }
  lua_seti(L, 1, position);
  return 0;
}

static int tables_remove(lua_State *L) {
  lua_Integer length = checked_length(L, READS | WRITES), position = luaL_optinteger(L, 2, length);
  if (lua_gettop(L) > 1) /* from 1 to one past the last element; 0 if the list is empty */
    luaL_argcheck(L, (lua_Unsigned)length + 1u - (lua_Unsigned)position <= (lua_Unsigned)length + (length == 0), 2,
                  "position out of bounds");
  lua_geti(L, 1, position);
  for (; position < length; position++) move_one(L, 1, position + 1, 1, position);
  lua_pushnil(L);
  lua_seti(L, 1, position);
  return 1;
}

static int tables_move(lua_State *L) {
  lua_Integer first = luaL_checkinteger(L, 2), last = luaL_checkinteger(L, 3), target = luaL_checkinteger(L, 4);
  int to = lua_isnoneornil(L, 5) ? 1 : 5;
  check_table(L, 1, READS);
  check_table(L, to, WRITES);
  if (last >= first) {
    luaL_argcheck(L, first > 0 || last < LUA_MAXINTEGER + first, 3, "too many elements to move");
    lua_Integer count = last - first + 1;
    luaL_argcheck(L, target <= LUA_MAXINTEGER - count + 1, 4, "destination wrap around");
    /* Move backwards if the ranges overlap, so that no element is overwritten before it is moved. */
    int is_forward = target > last || target <= first || (to != 1 && !lua_compare(L, 1, to, LUA_OPEQ));
    for (lua_Integer n = 0; n < count; n++) {
      lua_Integer i = is_forward ? n : count - 1 - n;
      move_one(L, 1, first + i, to, target + i);
    }
  }
  lua_pushvalue(L, to);
  return 1;
}

/* Adds element `i` of the table at 1 to the text.                                                       [-0, +0, e] */
static void add_element(lua_State *L, luaL_Buffer *out, lua_Integer i) {
  tureen_meter_work(L, 1);
  lua_geti(L, 1, i);
  if (!lua_isstring(L, -1))
    luaL_error(L, "invalid value (%s) at index %I in table for 'concat'", luaL_typename(L, -1), (LUAI_UACINT)i);
  luaL_addvalue(out);
}

static int tables_concat(lua_State *L) {
  lua_Integer length = checked_length(L, READS);
  size_t separator_length;
  const char *separator = luaL_optlstring(L, 2, "", &separator_length);
  lua_Integer i = luaL_optinteger(L, 3, 1), last = luaL_optinteger(L, 4, length);
  luaL_Buffer out;
  luaL_buffinit(L, &out);
  for (; i < last; i++) {
    add_element(L, &out, i);
    luaL_addlstring(&out, separator, separator_length);
  }
  if (i == last) add_element(L, &out, i);
  luaL_pushresult(&out);
  return 1;
}

static int tables_unpack(lua_State *L) {
  lua_Integer i = luaL_optinteger(L, 2, 1);
  lua_Integer last = lua_isnoneornil(L, 3) ? luaL_len(L, 1) : luaL_checkinteger(L, 3);
  if (i > last) return 0;
  lua_Unsigned count = (lua_Unsigned)last - (lua_Unsigned)i;
  if (count >= INT32_MAX || !lua_checkstack(L, (int)(count + 1))) return luaL_error(L, "too many results to unpack");
  for (lua_Unsigned n = 0; n <= count; n++) {
    tureen_meter_work(L, 1);
    lua_geti(L, 1, (lua_Integer)((lua_Unsigned)i + n));
  }
  return (int)(count + 1);
}

/* The comparison function for table.sort: `<` or the function in upvalue 1, with a count. Replaces comparison functions in C. */
static int counted_less(lua_State *L) {
  tureen_meter_work(L, 4);
  lua_settop(L, 2);
  if (lua_isnil(L, lua_upvalueindex(1))) {
    lua_pushboolean(L, lua_compare(L, 1, 2, LUA_OPLT));
    return 1;
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, 2, 1);
  return 1;
}

static int guarded_sort(lua_State *L) {
  if (lua_isnoneornil(L, 2) || lua_iscfunction(L, 2)) {
    lua_settop(L, 2);
    lua_pushcclosure(L, counted_less, 1);
  }
  return tureen_pass_on(L);
}

void tureen_tables_open(lua_State *L) {
  static const luaL_Reg functions[] = {{"insert", tables_insert}, {"remove", tables_remove}, {"move", tables_move},
                                       {"concat", tables_concat}, {"unpack", tables_unpack}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
  tureen_guard(L, "sort", guarded_sort);
}
