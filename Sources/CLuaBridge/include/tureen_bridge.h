/* The C side of the bridge between Swift and Lua 5.4. Only this target uses a lua_State.
 *
 * Swift provides a table of functions (tureen_host). They are called only on the Lua thread, never call into Lua, and do
 * not keep pointer arguments. Lua errors are raised in C after the Swift function has returned, so that a longjmp never
 * crosses a Swift frame. */
#ifndef TUREEN_BRIDGE_H
#define TUREEN_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lua_State;

/* Bytes that Swift has allocated with malloc and the receiver frees. Empty: NULL and 0. */
typedef struct tureen_bytes {
  char *_Nullable data;
  size_t length;
} tureen_bytes;

/* The kinds of messages. */
enum {
  TUREEN_RESULT = 1, /* the call succeeded: payload is its result. Terminal */
  TUREEN_ERROR = 2,  /* the call failed: payload is an error object. Terminal */
  TUREEN_UPDATE = 3, /* a sync changed: payload is its state */
  TUREEN_END = 4,    /* a sync is DONE or STOPPED: payload is its state. Terminal */
  TUREEN_FAIL = 5,   /* a sync is FAILED: payload is an error object with the state under `sync`. Terminal */
  TUREEN_REQUEST = 6, /* a request of native code to the script: `call` is its number, the script answers it with a call */
  TUREEN_EVENT = 8,   /* an event of the host, without a call: payload is {event, detail, request?} */
  TUREEN_PROGRESS = 9, /* the progress of a plug-in's call: payload is the plug-in's value */
  TUREEN_CALL = 10,    /* a call for a plug-in of this thread: payload is the action, a zero byte, the arguments */
  TUREEN_CALL_OVER = 11, /* the caller has cancelled such a call; the plug-in still answers it. No payload */
  TUREEN_GUESTS = 12     /* only from core.take to Lua: the guest of the state has handled a message */
};

/* A message from the mailbox. */
typedef struct tureen_message {
  int64_t call;
  int32_t kind;
  tureen_bytes payload; /* JSON text */
  int64_t plugin;       /* for TUREEN_CALL and TUREEN_CALL_OVER: the number of the plug-in */
  size_t action_length; /* for TUREEN_CALL: the bytes of the action's name */
} tureen_message;

/* A call of an action. The pointers are valid only during the call. */
typedef struct tureen_request {
  const char *_Nonnull service;
  size_t service_length;
  const char *_Nonnull action;
  size_t action_length;
  const char *_Nonnull arguments; /* JSON text of one object */
  size_t arguments_length;
  const char *_Nullable store_name; /* NULL: the default store */
  size_t store_name_length;
  int is_global_store;
  int wants_records; /* 1: the script wants lazy records, see `entryLengths` in tureen_page.c */
} tureen_request;

/* Swift's functions for one lua_State. All of them run on the Lua thread, and none may be NULL. */
typedef struct tureen_host {
  void *_Nullable context;
  /* Accepts a call. Returns its id (> 0), or 0 with the error object in *error if it is refused. Never blocks. */
  int64_t (*_Nonnull call)(void *_Nullable context, const tureen_request *_Nonnull request,
                           tureen_bytes *_Nonnull error);
  /* Cancels an accepted call if possible. The call still gets an answer. Unknown ids are ignored. */
  void (*_Nonnull cancel)(void *_Nullable context, int64_t call);
  /* Returns the number of waiting messages. Resets earlier calls of `wake`, because their work is about to be delivered. */
  int64_t (*_Nonnull waiting)(void *_Nullable context);
  /* Moves the next message to *out. Returns 1, or 0 if none is waiting. */
  int (*_Nonnull take)(void *_Nullable context, tureen_message *_Nonnull out);
  /* Returns a descriptor that is readable while a message is waiting or a `wake` was not reset. Owned by Swift. */
  int (*_Nonnull wait_fd)(void *_Nullable context);
  /* Makes wait_fd readable until the next call of `waiting`, because there is work on the Lua side. */
  void (*_Nonnull wake)(void *_Nullable context);
  /* Returns 1 once an interrupt was requested. New calls are refused then. */
  int (*_Nonnull interrupted)(void *_Nullable context);
  /* Passes the settings object to the host. Returns 1, or 0 with the error object in *error. */
  int (*_Nonnull configure)(void *_Nullable context, const char *_Nonnull json, size_t length,
                            tureen_bytes *_Nonnull error);
  /* The next four functions may be called from any thread. Registers a plug-in, whose calls arrive as messages.
   * Returns its number (> 0), or 0 with the error object in *error. `spec` is JSON text or NULL. Without
   * `hears_cancel` cancelled calls end at once. */
  int64_t (*_Nonnull register_plugin)(void *_Nullable context, const char *_Nonnull service, const char *_Nullable spec,
                                      int hears_cancel, tureen_bytes *_Nonnull error);
  /* Removes a plug-in. Returns 1, or 0 if it is not registered. Calls that it has received stay open. */
  int (*_Nonnull unregister_plugin)(void *_Nullable context, int64_t plugin);
  /* Takes a plug-in's answer or progress; `kind` and the result are those of tureen_answer. `is_encoded`: the text comes from
   * tureen_json_encode and is not checked. */
  int32_t (*_Nonnull answer)(void *_Nullable context, int64_t call, int32_t kind, const char *_Nonnull json, size_t length,
                             int is_encoded);
  /* Emits an event of a plug-in; the result is that of tureen_emit. */
  int32_t (*_Nonnull emit)(void *_Nullable context, const char *_Nonnull event, const char *_Nonnull json, size_t length);
  /* The next three functions serve the C API; NULL: the program has none. Like `call`, but takes the store from the arguments.
   * *store receives the final members for the events of a sync: ,"isGlobalStore":...,"storeName":...} */
  int64_t (*_Nullable embedded_call)(void *_Nullable context, const tureen_request *_Nonnull request,
                                     tureen_bytes *_Nonnull store, tureen_bytes *_Nonnull error);
  /* Passes a report of the program to the host: TUREEN_OFFLINE etc. Never blocks. */
  void (*_Nullable report)(void *_Nullable context, int32_t state);
  /* Passes the program's answer to `sessionNeeded` to the host; the result is that of tureen_give_session. Never blocks. */
  int32_t (*_Nullable give_session)(void *_Nullable context, const char *_Nonnull json, size_t length);
  /* Ends the bridge: waits for accepted store calls, discards their results, shuts down the host and frees the context.
   * Called once, as the last function. */
  void (*_Nonnull release)(void *_Nullable context);
} tureen_host;

/* Opens the bridge in a state, pushes the `tureen` module and registers it and its parts for `require`. The state takes
 * ownership of *host even if this raises. If the state already has a bridge, it keeps that one, and *host is released.
 *                                                                                                        [-0, +1, e] */
int tureen_bridge_open(struct lua_State *_Nonnull L, const tureen_host *_Nonnull host);

/* A state has one bridge, whichever copy of this code opened it: that of `tureen run`, or that of the library that a C module
 * brings. The functions below find it in both cases if the copies fit one another, that is, have the same structures.
 *
 * Returns 1 if the state has a bridge of a copy that does not fit. Never raises.                         [-0, +0, -] */
int tureen_bridge_is_strange(struct lua_State *_Nonnull L);

/* Pushes the `tureen` module of a state with a bridge and returns 1; otherwise pushes nothing and returns 0.
 *                                                                                                     [-0, +0..1, e] */
int tureen_bridge_existing(struct lua_State *_Nonnull L);

/* A part of the program that shares a state's bridge with the scripts. Its functions run on the state's thread and
 * never raise. */
typedef struct tureen_guest {
  void *_Nullable context;
  /* Gets each message before the script. Returns 1 if the message was only for the guest, which then frees the payload. */
  int (*_Nonnull take)(void *_Nullable context, tureen_message *_Nonnull message);
  /* Returns the number of the guest's pending calls, for which `tureen.run` waits. */
  int64_t (*_Nonnull pending)(void *_Nullable context);
  /* Called before the bridge is released. The guest must not use it after returning. */
  void (*_Nonnull closing)(void *_Nullable context);
  /* Called after the bridge was released, as the last function. */
  void (*_Nonnull closed)(void *_Nullable context);
} tureen_guest;

/* Returns the host of a state's open bridge; NULL if there is none. Never raises.                       [-0, +0, -] */
const tureen_host *_Nullable tureen_bridge_host(struct lua_State *_Nonnull L);

/* Returns the guest of a state's open bridge, to read or to set it; its context is NULL if there is no guest. Returns
 * NULL if there is no open bridge. Never raises.                                                      [-0, +0, -] */
tureen_guest *_Nullable tureen_bridge_guest(struct lua_State *_Nonnull L);

/* Returns 1 if an error reached the default tureen.onerror since the bridge was opened. Never raises.   [-0, +0, -] */
int tureen_bridge_failed(struct lua_State *_Nonnull L);

/* The limits of scripts. */
enum { TUREEN_LIMIT_NONE = 0, TUREEN_LIMIT_MEMORY = 1, TUREEN_LIMIT_INSTRUCTIONS = 2, TUREEN_LIMIT_TIME = 3 };

/* The resources that a script may use; 0: no limit. A script that reaches a limit ends, even if it catches errors. */
typedef struct tureen_limits {
  uint64_t memory_bytes; /* memory of Lua's allocator, including libraries and modules; for restricted scripts 0 means 256 MiB */
  uint64_t instructions; /* instructions of Lua's virtual machine, in steps of 1,000, plus the work of library functions */
  uint64_t time_ms;      /* time since the start of the first script, including waits */
  int is_restricted;     /* 1: no files, processes, loaders and `debug` */
} tureen_limits;

/* Writes out what scripts have printed. Returns 0 if standard output has everything, or if its reader is gone; the errno with
 * which it fails now; -1 if it failed earlier. */
int tureen_output_failure(void);

/* Opens a state with the standard libraries and the bridge; `tureen` is loaded but not a global. Returns NULL with a message in
 * *error if there is no memory. `limits` may be NULL. Takes ownership of *host even if it fails. Never raises. */
struct lua_State *_Nullable tureen_state_open(const tureen_host *_Nonnull host, const tureen_limits *_Nullable limits,
                                              tureen_bytes *_Nonnull error);

/* Runs a script file with its arguments in `arg` and `...`, then polls until nothing is pending. A leading '#' line is
 * skipped. Returns 0 on success; 1 with a message (and traceback) in *error if the script failed; 2 if it could not be read or
 * compiled; 3 if it reached a limit, which *error names; 4 if tureen.main ended it with tureen_state_exit_status. If
 * tureen.onerror has already reported an error of a callback, it returns 1 and an empty message. Never raises. */
int tureen_state_run_file(struct lua_State *_Nonnull L, const char *_Nonnull path, int count,
                          const char *_Nonnull const *_Nullable arguments, tureen_bytes *_Nonnull error);

/* Runs the text of a script like tureen_state_run_file; `name` is a chunk name such as "=repl" or "@file". */
int tureen_state_run_text(struct lua_State *_Nonnull L, const char *_Nonnull text, size_t length,
                          const char *_Nonnull name, tureen_bytes *_Nonnull error);

/* The same for the text of a script file that was read already; `path` names it in messages and in `arg[0]`. */
int tureen_state_run_script(struct lua_State *_Nonnull L, const char *_Nonnull path, const char *_Nonnull text, size_t length,
                            int count, const char *_Nonnull const *_Nullable arguments, tureen_bytes *_Nonnull error);

/* Returns the exit status that tureen.main requested; -1 if it did not.                                 [-0, +0, -] */
int tureen_state_exit_status(struct lua_State *_Nonnull L);

/* Returns the kind of error that ended the last script: "domain/code/reason" of the first uncaught error, with an often empty
 * reason; "" if there was none or it had no domain. Valid until the next script runs.                   [-0, +0, -] */
const char *_Nonnull tureen_state_failure(struct lua_State *_Nonnull L);

/* Returns the limit that the state's scripts have reached, TUREEN_LIMIT_...                             [-0, +0, -] */
int tureen_state_limit(struct lua_State *_Nonnull L);

/* Runs a text and keeps the function that it returns for `tureen_state_ask`; replaces an earlier one. Returns 0, or 1 with a
 * message in *error. Never raises. */
int tureen_state_keep(struct lua_State *_Nonnull L, const char *_Nonnull text, size_t length, const char *_Nonnull name,
                      tureen_bytes *_Nonnull error);

/* Calls the kept function with a verb and a text. Returns 0 with its result in *answer, or 1 with a message. */
int tureen_state_ask(struct lua_State *_Nonnull L, const char *_Nonnull verb, const char *_Nonnull text, size_t length,
                     tureen_bytes *_Nonnull answer);

/* Makes the code in the state interruptible: while *flag is not 0, every Lua function, including those in coroutines that are
 * created later, raises "interrupted" soon. Any thread may set the flag, which must outlive the state. Never raises. */
void tureen_state_watch(struct lua_State *_Nonnull L, const int *_Nonnull flag);

/* Sets a watched flag. Callable from any thread and from signal handlers. */
void tureen_flag_set(int *_Nonnull flag, int value);

/* Makes the state the one that tureen_break_ask interrupts. Call it on the state's thread before scripts run.
 * Installs a handler of SIGURG to reach that thread, so it is only for programs that own their process. Returns 1, or
 * 0 if there is such a state already or no memory. Never raises. */
int tureen_break_watch(struct lua_State *_Nonnull L);

/* From now on Lua code of that state raises "interrupted" if it runs for half a second without returning to the host, again after
 * every catch. Callable from any thread, but not from signal handlers. */
void tureen_break_ask(void);

/* The same in a signal handler, on that state's thread. */
void tureen_break_ask_here(void);

/* Makes that state check its limits before its next instruction. Only for states with limits. Callable from any thread. */
void tureen_break_nudge(void);

/* Returns the processor time, in milliseconds, that the state's thread has used since a nudge without executing an
 * instruction. */
int64_t tureen_break_stuck_ms(void);

/* Returns 1 if tureen_break_ask has interrupted the code in this state. */
int tureen_break_happened(struct lua_State *_Nonnull L);

/* Closes the state and its bridge. Calls may be in flight. */
void tureen_state_close(struct lua_State *_Nonnull L);

/* Opens a descriptor that can be made readable and unreadable (an eventfd). Returns -1 and sets errno on failure. */
int tureen_signal_open(void);
/* Makes the descriptor readable (1) or not (0). Call it only for a change; then it neither blocks nor fails. */
void tureen_signal_set(int descriptor, int readable);

#ifdef __cplusplus
}
#endif
#endif
