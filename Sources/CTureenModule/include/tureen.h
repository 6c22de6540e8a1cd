/* What libtureen.so offers to programs that have Lua inside them. */
#ifndef TUREEN_H
#define TUREEN_H

#ifdef __cplusplus
extern "C" {
#endif

struct lua_State;

/* Loads Tureen into a Lua 5.4 state and leaves the module on the stack: what `require "tureen"` calls in a library found
 * through LUA_CPATH. A program that links the library passes it to luaL_requiref instead:
 *
 *     luaL_requiref(L, "tureen", luaopen_tureen, 0);
 *
 * The Lua functions used are the program's own; the library brings no Lua. A state has one bridge, however often this runs;
 * several states in a process are independent. Closing the state ends its syncs and waits for them. Call it on the state's
 * thread; it raises a Lua error when there is no descriptor or memory left.                                  [-0, +1, e] */
int luaopen_tureen(struct lua_State *L);

#ifdef __cplusplus
}
#endif
#endif
