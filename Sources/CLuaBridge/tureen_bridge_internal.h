/* Declarations shared by the C files of the bridge. */
#ifndef TUREEN_BRIDGE_INTERNAL_H
#define TUREEN_BRIDGE_INTERNAL_H

#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>

#include "include/tureen_bridge.h"
#include "tureen_decoder.h"
#include "tureen_weak_lua.h"

/* The program that uses the state: Lua or another program; our prompt; our program while it runs a script. */
enum { TUREEN_OWNER_OTHER = 0, TUREEN_OWNER_PROMPT = 1, TUREEN_OWNER_RUN = 2 };

/* One state's bridge: a userdata in the registry. Its user value 1 is the table of loaded modules. */
typedef struct tureen_bridge {
  tureen_host host;
  tureen_guest guest;     /* without a context: there is none */
  tureen_message current; /* taken but not decoded; stored here so that it is freed after an error while decoding */
  tureen_bytes refusal;   /* an error object from Swift, stored here for the same reason */
  int is_open;
  int has_failed; /* an error reached the default tureen.onerror */
  int owner;      /* the program that runs the scripts: TUREEN_OWNER_... */
  int exit_status; /* requested by tureen.main; -1: none */
  char failure[96]; /* the kind of the first uncaught error, for tureen_state_failure */
  int alarm;      /* a timer descriptor, readable when the next timer of the script is due */
  int either;     /* readable when the host's descriptor or the alarm is readable */
} tureen_bridge;

/* Returns the bridge of a state; NULL if it has none. Never raises.                                     [-0, +0, -] */
tureen_bridge *tureen_bridge_of(lua_State *L);

/* Stores the kind of the error at `index` if it is the first uncaught one since the script started and a table with a domain and
 * a code.                                                                                               [-0, +0, m] */
void tureen_bridge_note_failure(lua_State *L, tureen_bridge *bridge, int index);

/* Returns the bridge in upvalue 1 of the running function; raises if it is closed.                      [-0, +0, v] */
tureen_bridge *tureen_bridge_self(lua_State *L);

/* Pushes the table of C functions for the embedded modules. The bridge is at the top of the stack.      [-0, +1, e] */
void tureen_core_push(lua_State *L);

/* Pushes the module with this internal name, which is loaded once. The bridge is at `bridge`, the core at `core`.
 *                                                                                                        [-0, +1, e] */
void tureen_module_import(lua_State *L, int bridge, int core, const char *name);

/* Registers the public names for `require`. The bridge is at `bridge`, the core at `core`.              [-0, +0, e] */
void tureen_modules_announce(lua_State *L, int bridge, int core);

/* Opens the bridge's alarm. Returns 1, or 0 with errno if the process has no descriptor left. Closing it twice is allowed. */
int tureen_clock_open(tureen_bridge *bridge);
void tureen_clock_close(tureen_bridge *bridge);

/* Functions of the core for time and waiting. */
int tureen_clock_now(lua_State *L);
int tureen_clock_alarm(lua_State *L);
int tureen_clock_wait(lua_State *L);
int tureen_clock_fd(lua_State *L);

/* Pushes the error object in `refusal` as a tureen.Error and frees the bytes.                           [-0, +1, e] */
void tureen_push_refusal(lua_State *L, tureen_bridge *bridge);

/* Functions of the core for plug-ins: register, unregister, answer a call. */
int tureen_plug(lua_State *L);
int tureen_unplug(lua_State *L);
int tureen_answer_call(lua_State *L);

/* Functions of the core: encode and decode Base64. */
int tureen_to_base64(lua_State *L);

/* Gives null a name in this state: it prints "null", and errors name it. See tureen_null.c.             [-0, +0, e] */
void tureen_null_describe(lua_State *L);
/* describe_null(): the same for scripts                                                                 [-0, +0, e] */
int tureen_core_describe_null(lua_State *L);
/* value_or(value, [default]) -> value, or default if it is nil or null                                  [-2, +1, e] */
int tureen_core_value_or(lua_State *L);
int tureen_from_base64(lua_State *L);

/* Pushes the innermost position in the script's own code as "name:line", or nothing.                 [-0, +0..1, e] */
int tureen_push_position(lua_State *L);

/* Frees bytes from Swift. May be called twice. */
void tureen_bytes_free(tureen_bytes *bytes);

#endif
