/* What the C files of the bridge share. */
#ifndef TUREEN_BRIDGE_INTERNAL_H
#define TUREEN_BRIDGE_INTERNAL_H

#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>

#include "include/tureen_bridge.h"
#include "tureen_decoder.h"
#include "tureen_weak_lua.h"

/* The program around the state: Lua's own or another program; a prompt of ours; ours, while it runs a script. */
enum { TUREEN_OWNER_OTHER = 0, TUREEN_OWNER_PROMPT = 1, TUREEN_OWNER_RUN = 2 };

/* One state's bridge: a userdata in the registry. Its user value 1 is the table of loaded modules. */
typedef struct tureen_bridge {
  tureen_host host;
  tureen_message current; /* taken and not decoded yet; kept here so that an error while decoding frees it later */
  tureen_bytes refusal;   /* likewise, an error object Swift gave */
  int is_open;
  int has_failed; /* an error was left to the default tureen.onerror */
  int owner;      /* who runs the scripts of this state: TUREEN_OWNER_... */
  int exit_status; /* what tureen.main asked for; -1: nothing */
  char failure[96]; /* of the first error that nothing caught, as tureen_state_failure gives it */
  int alarm;      /* a timer's descriptor: readable when the next timer of the script is due */
  int either;     /* readable when the host's descriptor or the alarm is */
} tureen_bridge;

/* The bridge of a state, NULL when it has none. Never raises.                                           [-0, +0, -] */
tureen_bridge *tureen_bridge_of(lua_State *L);

/* Notes what kind of error the one at `index` is, if it is the first that nothing caught since the script began and a table
 * with a domain and a code.                                                                             [-0, +0, m] */
void tureen_bridge_note_failure(lua_State *L, tureen_bridge *bridge, int index);

/* The bridge in upvalue 1 of the running function; raises when it is closed.                            [-0, +0, v] */
tureen_bridge *tureen_bridge_self(lua_State *L);

/* Pushes the table of C functions the embedded modules build on; the bridge at the top of the stack.    [-0, +1, e] */
void tureen_core_push(lua_State *L);

/* Pushes the module with this internal name, loading it once; the bridge at `bridge`, the core at `core`.
 *                                                                                                        [-0, +1, e] */
void tureen_module_import(lua_State *L, int bridge, int core, const char *name);

/* Makes the public names known to `require`; bridge and core as above.                                  [-0, +0, e] */
void tureen_modules_announce(lua_State *L, int bridge, int core);

/* Opens the bridge's alarm: 1, or 0 with errno when the process has no descriptor left. Closing is safe twice. */
int tureen_clock_open(tureen_bridge *bridge);
void tureen_clock_close(tureen_bridge *bridge);

/* Functions of the core that tell the time and wait. */
int tureen_clock_now(lua_State *L);
int tureen_clock_alarm(lua_State *L);
int tureen_clock_wait(lua_State *L);
int tureen_clock_fd(lua_State *L);

/* Pushes the error object Swift gave in `refusal` as a tureen.Error and frees the bytes.                [-0, +1, e] */
void tureen_push_refusal(lua_State *L, tureen_bridge *bridge);

/* Functions of the core for plug-ins: adds one, removes one, answers a call. */
int tureen_plug(lua_State *L);
int tureen_unplug(lua_State *L);
int tureen_answer_call(lua_State *L);

/* Functions of the core: bytes to base64 text and back. */
int tureen_to_base64(lua_State *L);
int tureen_from_base64(lua_State *L);

/* Pushes the position of the script's own code that led here, as "name:line", or nothing.            [-0, +0..1, e] */
int tureen_push_position(lua_State *L);

/* Frees what Swift gave. Safe twice. */
void tureen_bytes_free(tureen_bytes *bytes);

#endif
