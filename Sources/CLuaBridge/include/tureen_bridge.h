/* The C side of the bridge between Swift and Lua 5.4: everything that touches a lua_State is behind this header.
 *
 * Swift hands over a table of functions (tureen_host). They are called on the Lua thread only, never call into Lua and
 * never keep a pointer they are given. Lua errors are raised in C after the Swift function has returned, so a longjmp
 * never crosses a Swift frame. */
#ifndef TUREEN_BRIDGE_H
#define TUREEN_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lua_State;

/* Bytes made with malloc by Swift; the receiver frees them. Empty: NULL and 0. */
typedef struct tureen_bytes {
  char *_Nullable data;
  size_t length;
} tureen_bytes;

/* What a message says about its call. */
enum {
  TUREEN_RESULT = 1, /* the call succeeded: payload is its result. Terminal */
  TUREEN_ERROR = 2,  /* the call failed: payload is an error object. Terminal */
  TUREEN_UPDATE = 3, /* a sync moved: payload is its state */
  TUREEN_END = 4,    /* a sync is DONE or STOPPED: payload is its state. Terminal */
  TUREEN_FAIL = 5,   /* a sync is FAILED: payload is an error object with the state under `sync`. Terminal */
  TUREEN_REQUEST = 6, /* native code asks the script: `call` is the request's number, the script answers it with a call */
  TUREEN_NEWS = 8,    /* an event of the host, of no call: payload is {event, detail, request?} */
  TUREEN_PROGRESS = 9, /* a plug-in says how far the call is: payload is what it gave */
  TUREEN_CALL = 10,    /* a plug-in of this thread gets a call: payload is the action, a zero byte, the arguments */
  TUREEN_CALL_OVER = 11 /* that call was given up by its caller; the plug-in still answers it. No payload */
};

/* One item of news from the mailbox. */
typedef struct tureen_message {
  int64_t call;
  int32_t kind;
  tureen_bytes payload; /* JSON text */
  int64_t plugin;       /* of TUREEN_CALL and TUREEN_CALL_OVER: whose call it is */
  size_t action_length; /* of TUREEN_CALL: bytes of the action's name */
} tureen_message;

/* One use of an action. The pointers are valid during the call only. */
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
  int wants_records; /* the script reads entries field by field: see `entryLengths` in tureen_page.c */
} tureen_request;

/* Swift's functions for one lua_State. All run on the Lua thread and none may be NULL. */
typedef struct tureen_host {
  void *_Nullable context;
  /* Accepts a call: its id (> 0), or 0 when it is refused, with the error object in *error. Never blocks. */
  int64_t (*_Nonnull call)(void *_Nullable context, const tureen_request *_Nonnull request,
                           tureen_bytes *_Nonnull error);
  /* Asks to give up a call that was accepted, as far as that can be done; it is answered all the same. Any id is fine. */
  void (*_Nonnull cancel)(void *_Nullable context, int64_t call);
  /* How many messages wait. Forgets earlier calls of `wake`: what they announced is about to be delivered. */
  int64_t (*_Nonnull waiting)(void *_Nullable context);
  /* Moves the next message to *out: 1, or 0 when none waits. */
  int (*_Nonnull take)(void *_Nullable context, tureen_message *_Nonnull out);
  /* A descriptor that is readable while a message waits, or a `wake` was not answered yet. Owned by Swift. */
  int (*_Nonnull wait_fd)(void *_Nullable context);
  /* Makes wait_fd readable until `waiting` is next called: something waits on the Lua side. */
  void (*_Nonnull wake)(void *_Nullable context);
  /* 1 once an interrupt was asked for. New calls are refused then. */
  int (*_Nonnull interrupted)(void *_Nullable context);
  /* Hands over the settings object: 1, or 0 with the error object in *error. */
  int (*_Nonnull configure)(void *_Nullable context, const char *_Nonnull json, size_t length,
                            tureen_bytes *_Nonnull error);
  /* The next four may be called from any thread. Registers a plug-in whose calls come as messages: its number (> 0), or 0 with
   * the error object in *error. `spec` is JSON text or NULL. Without `hears_cancel` a call that is given up ends at once. */
  int64_t (*_Nonnull register_plugin)(void *_Nullable context, const char *_Nonnull service, const char *_Nullable spec,
                                      int hears_cancel, tureen_bytes *_Nonnull error);
  /* Removes it: 1, or 0 when it is not registered. Calls it has got stay open. */
  int (*_Nonnull unregister_plugin)(void *_Nullable context, int64_t plugin);
  /* A plug-in's answer to a call, or a progress: `kind` and the result as tureen_answer has them. */
  int32_t (*_Nonnull answer)(void *_Nullable context, int64_t call, int32_t kind, const char *_Nonnull json, size_t length);
  /* Tells an event of a plug-in: the result as tureen_emit has it. */
  int32_t (*_Nonnull emit)(void *_Nullable context, const char *_Nonnull event, const char *_Nonnull json, size_t length);
  /* Ends the bridge: waits for accepted store calls, drops their results, shuts the host down and frees the context.
   * Called once; nothing else is called afterwards. */
  void (*_Nonnull release)(void *_Nullable context);
} tureen_host;

/* Opens the bridge in a state, pushes the `tureen` module and makes it and its parts known to `require`. The state owns
 * *host from here on, also when this raises. A state that has a bridge already keeps it; *host is then released.
 *                                                                                                        [-0, +1, e] */
int tureen_bridge_open(struct lua_State *_Nonnull L, const tureen_host *_Nonnull host);

/* Pushes the `tureen` module of a state that has a bridge and returns 1; else pushes nothing and returns 0.
 *                                                                                                     [-0, +0..1, e] */
int tureen_bridge_existing(struct lua_State *_Nonnull L);

/* 1 when an error was left to the default tureen.onerror since the bridge was opened. Never raises.     [-0, +0, -] */
int tureen_bridge_failed(struct lua_State *_Nonnull L);

/* Which limit a script has reached. */
enum { TUREEN_LIMIT_NONE = 0, TUREEN_LIMIT_MEMORY = 1, TUREEN_LIMIT_INSTRUCTIONS = 2, TUREEN_LIMIT_TIME = 3 };

/* What a script may use; 0: no limit. A script that reaches a limit ends, even if it catches errors. */
typedef struct tureen_limits {
  uint64_t memory_bytes; /* of Lua's allocator, the libraries and modules included; 256 MiB for a restricted script when 0 */
  uint64_t instructions; /* of Lua's virtual machine, counted in steps of 1,000, and what library functions do */
  uint64_t time_ms;      /* from the first script on, waiting included */
  int is_restricted;     /* without files, processes, loaders and `debug` */
} tureen_limits;

/* A state with the standard libraries and the bridge, `tureen` loaded but not a global; NULL with a message in *error
 * when there is no memory. `limits` may be NULL. Owns *host, also when it fails. Never raises. */
struct lua_State *_Nullable tureen_state_open(const tureen_host *_Nonnull host, const tureen_limits *_Nullable limits,
                                              tureen_bytes *_Nonnull error);

/* Runs a script file with its arguments in `arg` and `...`, then polls until nothing is pending. A leading '#' line is
 * skipped. Returns 0 when all went well; 1 with a message (and traceback) in *error when the script failed; 2 when it
 * could not be read or compiled; 3 when it reached a limit, with where and which in *error; 4 when tureen.main ended it with
 * tureen_state_exit_status. A callback's error that tureen.onerror reported already gives 1 and an empty message. Never
 * raises. */
int tureen_state_run_file(struct lua_State *_Nonnull L, const char *_Nonnull path, int count,
                          const char *_Nonnull const *_Nullable arguments, tureen_bytes *_Nonnull error);

/* The same for a script's text; `name` as Lua's chunk names, "=repl" or "@file". */
int tureen_state_run_text(struct lua_State *_Nonnull L, const char *_Nonnull text, size_t length,
                          const char *_Nonnull name, tureen_bytes *_Nonnull error);

/* The exit status that tureen.main asked for; -1 when it did not.                                       [-0, +0, -] */
int tureen_state_exit_status(struct lua_State *_Nonnull L);

/* What kind of error ended the last script: "domain/code/reason" of the first one that nothing caught, the reason often empty;
 * "" when there was none, or one without a domain. Good until the next script runs.                     [-0, +0, -] */
const char *_Nonnull tureen_state_failure(struct lua_State *_Nonnull L);

/* The limit the state's scripts have reached, TUREEN_LIMIT_...                                          [-0, +0, -] */
int tureen_state_limit(struct lua_State *_Nonnull L);

/* Runs a text and keeps the function it returns, for `tureen_state_ask`; takes the place of an earlier one. Returns 0, or 1
 * with a message in *error. Never raises. */
int tureen_state_keep(struct lua_State *_Nonnull L, const char *_Nonnull text, size_t length, const char *_Nonnull name,
                      tureen_bytes *_Nonnull error);

/* Calls the kept function with a verb and a text. Returns 0 with the text it returned in *answer, or 1 with a message. */
int tureen_state_ask(struct lua_State *_Nonnull L, const char *_Nonnull verb, const char *_Nonnull text, size_t length,
                     tureen_bytes *_Nonnull answer);

/* Makes what runs in the state breakable: while *flag is not 0, every Lua function, also in coroutines made from here on,
 * raises "interrupted" soon. The flag may be set by any thread and has to stay as long as the state. Never raises. */
void tureen_state_watch(struct lua_State *_Nonnull L, const int *_Nonnull flag);

/* Sets a watched flag, from any thread or a signal handler. */
void tureen_flag_set(int *_Nonnull flag, int value);

/* Makes the state the one that tureen_break_ask ends; its thread calls it before scripts run. Installs a handler of SIGURG, by
 * which that thread is reached: for programs that own their process. Returns 1, or 0 when there is such a state already, or no
 * memory. Never raises. */
int tureen_break_watch(struct lua_State *_Nonnull L);

/* From now on Lua code of that state that goes on for half a second without coming back to the host raises "interrupted", and
 * so does whatever catches that. Any thread; not a signal handler. */
void tureen_break_ask(void);

/* From any thread: that state's limits are looked at before its next instruction. For states with limits only. */
void tureen_break_nudge(void);

/* Milliseconds of processor time that the state's thread has worked since the nudge that no instruction has answered yet. */
int64_t tureen_break_stuck_ms(void);

/* 1 when that has ended what ran in this state. */
int tureen_break_happened(struct lua_State *_Nonnull L);

/* Closes the state and with it the bridge; safe with calls in flight. */
void tureen_state_close(struct lua_State *_Nonnull L);

/* A descriptor that can be made readable and unreadable again (an eventfd); -1 and errno when there is none left. */
int tureen_signal_open(void);
/* Makes it readable (1) or not (0). Call only when that is a change; then it neither blocks nor fails. */
void tureen_signal_set(int descriptor, int readable);

#ifdef __cplusplus
}
#endif
#endif
