/* The hook of every state that has one: counts for the limits, and interrupts code that was asked to end. */
#include "tureen_hook.h"

#include "tureen_break.h"
#include "tureen_limits.h"

void tureen_hook(lua_State *L, lua_Debug *record) {
  (void)record;
  tureen_break_heard();
  tureen_meter_hook(L);
  tureen_break_look(L);
}

void tureen_hook_note(lua_State *L) {
  tureen_break_note(L);
  tureen_meter_note(L);
}
