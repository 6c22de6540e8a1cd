/* The C API of libtureen.so: hosts for programs without Lua, and loading Tureen into a program's own Lua state.
 *
 *     tureen *t;
 *     if (tureen_open("{\"home\": \"/var/lib/kiosk\"}", &t, NULL) != TUREEN_OK) ...
 *     tureen_exec(t, "com.salesforce.smartstore", "pgSoupExists", "{\"soupName\": \"people\"}", on_answer, NULL, NULL);
 *     while (tureen_pending(t) > 0) tureen_poll(t, -1);
 *     tureen_free(t);
 *
 * The library has no state outside its handles, installs no signal handlers, blocks signals on its own threads, and does not
 * write to stdout or stderr unless the environment variable TUREEN_LOG requests a log. Any number of hosts may be open at once;
 * two hosts with the same home share its stores as two processes would. A handle does not survive fork(): open one in the child.
 *
 * Threads: every function may be called from any thread, also concurrently, unless stated otherwise. Callbacks run only inside
 * tureen_poll, tureen_close and tureen_free, on the calling thread; never two callbacks of a host at once. A callback may call
 * everything except tureen_poll of its own host. It must return normally, without longjmp or a C++ exception.
 *
 * All text is UTF-8. Text for callbacks ends with a zero byte and is valid until they return. Services, actions, their arguments
 * and results: bridge-spec/actions. Errors are JSON objects {domain, code, message, retryable, ...}: bridge-spec/errors.json. */
#ifndef TUREEN_H
#define TUREEN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header; tureen_version() returns that of the library. */
#define TUREEN_VERSION "0.2.0"

/* A host: the stores, the syncs and the client of one org. */
typedef struct tureen tureen;

/* The results of functions. Errors are negative. */
enum {
  TUREEN_OK = 0,
  TUREEN_MISUSE = -1,    /* an argument is NULL or invalid, or the function must not be called here */
  TUREEN_CLOSED = -2,    /* the handle is closed */
  TUREEN_NO_MEMORY = -3, /* nothing was done */
  TUREEN_REFUSED = -4,   /* the host refused; *error says why */
  TUREEN_SYSTEM = -5,    /* a system call failed; errno says why */
  TUREEN_NOT_OPEN = -6   /* the call was already answered or cancelled, or does not belong to a plug-in of this handle */
};

/* The kinds of answers. The first two end the call; every accepted call ends exactly once. */
enum {
  TUREEN_ANSWER_RESULT = 1,  /* json is the result; for a sync its final state, DONE or STOPPED */
  TUREEN_ANSWER_ERROR = 2,   /* json is the error; for a FAILED sync with its state under "sync" */
  TUREEN_ANSWER_PROGRESS = 3 /* json is an update: the state of a running sync, the changes that an observer saw, or the
                                progress of a plug-in's call */
};

/* Receives the answers of a call. `kind` is one of TUREEN_ANSWER_...; `length` does not count the zero byte. */
typedef void (*tureen_on_answer)(tureen *t, int64_t call, int kind, const char *json, size_t length, void *user);

/* Receives an event; `json` is its detail. */
typedef void (*tureen_on_event)(tureen *t, const char *event, const char *json, size_t length, void *user);

/* Opens a host. Does not use the network or open stores; that happens with the first call that needs it.
 *
 * options  JSON object with the settings of tureen.configure: home, org, credentials, apiVersion, caFile, proxy, config,
 *          recover, connections, logRequests, logRequestsFile, the keys of encrypted stores, and store with its password;
 *          and "signIn": "program", see tureen_give_session. NULL or "{}": the settings of the environment, else the defaults.
 *          The org "sandbox" is the one that `tureen sandbox` serves for the same home.
 * out      receives the handle; NULL on failure.
 * error    NULL, or receives a text to free with tureen_text_free: the error as JSON; NULL on success.
 * Returns TUREEN_OK, TUREEN_MISUSE (out is NULL), TUREEN_REFUSED (options or configuration files), TUREEN_NO_MEMORY. */
int tureen_open(const char *options, tureen **out, char **error);

/* Closes a host: refuses new calls, stops its syncs at their next page, closes stores and connections, waits until this is done,
 * and answers every pending call with the error bridge/closed, on this thread, before it returns. It does not wait for servers or
 * long queries: requests in flight are aborted, and running queries are ended. One that the database cannot end is left to its
 * thread after five seconds.
 *
 * It may be called inside a callback; the surrounding tureen_poll then returns. While another thread is in tureen_poll, it waits
 * until the callback that runs there has returned. A second call does nothing; on another thread it waits for the first.
 * Afterwards every function except tureen_free returns TUREEN_CLOSED. The descriptor is closed, so remove it from your event
 * loop first. Returns TUREEN_OK, or TUREEN_MISUSE for NULL. */
int tureen_close(tureen *t);

/* Closes the host if it is open, and frees the handle, which must not be used afterwards. No other thread may be in a function
 * of this host or enter one. Inside a callback the memory is freed when the surrounding function returns. NULL is allowed. */
void tureen_free(tureen *t);

/* Returns a descriptor, for poll(2) and similar, that is readable while tureen_poll has something to deliver. Do not read from it
 * or close it; it stays the same until tureen_close. Other results: TUREEN_CLOSED, TUREEN_MISUSE. */
int tureen_fd(tureen *t);

/* Runs the waiting callbacks. Waits for the first one for at most `timeout_ms`, or without limit if that is negative; a signal
 * handler of the program ends the wait. Messages that arrive during the callbacks are left for the next call.
 *
 * Only one thread may poll at a time, but any thread. Returns the number of delivered messages; TUREEN_CLOSED, also if the host
 * is closed meanwhile; TUREEN_MISUSE if t is NULL, inside a callback of this host, or while another thread polls;
 * TUREEN_SYSTEM. */
int tureen_poll(tureen *t, int timeout_ms);

/* Makes a call. Its answers are passed to `answer`, never inside this function. Never blocks.
 *
 * arguments  JSON object; NULL for none. Its members `isGlobalStore` and `storeName` select the store. Calls on one store are
 *            executed in the order in which they were made.
 * answer     The callback. NULL: a failure is reported to the listeners of uncaughtError and logged, unless the call was
 *            cancelled with tureen_cancel or ended by closing the host.
 * error      NULL, or receives a text to free with tureen_text_free if the call is refused.
 * Sync targets of type "custom", "transform" of a target and the sync option "resolver" name functions of Lua scripts, or of a
 * program that serves them: see tureen_serve. Otherwise such a sync fails with sync/customTarget, or at its first conflict with
 * sync/resolver; without "resolver" conflicts are recorded for getConflicts and resolveConflict.
 *
 * Returns the call's id, which is positive; or TUREEN_REFUSED (too many pending calls), TUREEN_CLOSED, TUREEN_MISUSE (an argument
 * is NULL), TUREEN_NO_MEMORY; `answer` is not called then. Unknown services and actions and invalid arguments are reported to
 * `answer`. */
int64_t tureen_exec(tureen *t, const char *service, const char *action, const char *arguments, tureen_on_answer answer,
                    void *user, char **error);

/* Cancels a call if possible: a sync stops at its next page, a request is aborted, a query of a store ends with
 * smartstore/cancelled. The call still gets an answer. Does nothing if the call has ended. Returns TUREEN_OK, TUREEN_CLOSED or
 * TUREEN_MISUSE. */
int tureen_cancel(tureen *t, int64_t call);

/* Returns the number of pending calls, including open observers (pgObserve). Other results: TUREEN_CLOSED, TUREEN_MISUSE. */
int64_t tureen_pending(tureen *t);

/* Calls `listener` for every event of that name: sync, online, offline, pause, resume, salesforceSessionRefresh, sessionLost,
 * sessionNeeded, userSwitched or uncaughtError (see bridge-spec/events), or a name with a dot for an event of a plug-in. The
 * event of a sync follows its answer; if an event has no detail, json is null.
 * Listeners are called in the order in which they were added. A listener that is added during an event gets only later ones.
 * Returns a positive number for tureen_unlisten; TUREEN_MISUSE (NULL, another name, not UTF-8), TUREEN_CLOSED,
 * TUREEN_NO_MEMORY. */
int64_t tureen_listen(tureen *t, const char *event, tureen_on_event listener, void *user);

/* Removes a listener. If another thread is in tureen_poll, the listener may be running. Unknown numbers are ignored.
 * Returns TUREEN_OK, TUREEN_CLOSED or TUREEN_MISUSE. */
int tureen_unlisten(tureen *t, int64_t listener);

/* The states for tureen_report. */
enum { TUREEN_OFFLINE = 0, TUREEN_ONLINE = 1, TUREEN_PAUSE = 2, TUREEN_RESUME = 3 };

/* Reports a state of the program to the host: whether there is a network (requests are sent in either state), or that the program
 * pauses or resumes. With TUREEN_PAUSE running syncs stop at their next page and new ones are refused; with TUREEN_RESUME the
 * stopped syncs continue and send `sync` events. Listeners get a change when the host is next polled. Never blocks.
 * Returns TUREEN_OK, TUREEN_CLOSED, or TUREEN_MISUSE for any other number. */
int tureen_report(tureen *t, int state);

/* Gives the host a session, with the option "signIn": "program": the program signs in, and the host does not store the session in
 * a file or sign in itself. Before the first request to the org, and again after the org has refused the token, listeners of
 * sessionNeeded get {"org", "user", "reason"} with the "org" of the options and the "reason" "noSession" or "refused". The host
 * then waits 120 s for the session, and its requests wait, too.
 *
 * json  {"accessToken": ..., "instanceUrl": ...}, plus "identityUrl" if it is known, which names user and org. Or, if there is no
 *       session, {"error": ..., "message": ...}: requests then fail with network/notAuthenticated and that message. The token is
 *       used without a check; if it is the one that the org has just refused, requests fail with network/sessionExpired.
 * May be called from any thread and inside callbacks; never blocks. Returns TUREEN_OK; TUREEN_MISUSE for NULL or any other text,
 * which is ignored while the host continues to wait; TUREEN_REFUSED if no request is waiting, for example after 120 s;
 * TUREEN_CLOSED. */
int tureen_give_session(tureen *t, const char *json);

/* Receives a call for a plug-in of the program, which answers with tureen_answer, now or later. `arguments` is a compact JSON
 * object; `length` does not count the zero byte. Both texts are valid until the function returns. Runs inside tureen_poll, like
 * all callbacks. */
typedef void (*tureen_on_call)(tureen *t, int64_t call, const char *action, const char *arguments, size_t length, void *user);

/* Called when the caller has cancelled a call that the plug-in has received. The plug-in must still answer it. */
typedef void (*tureen_on_cancel)(tureen *t, int64_t call, void *user);

/* Registers a service that the program implements, for calls of tureen_exec with this handle. A Lua state that has loaded
 * luaopen_tureen has its own host: register the service with its handle, see tureen_of, for calls of its scripts.
 *
 * service    The name in reverse-DNS form, such as com.acme.printer: letters, digits and '_' in at least two parts. The prefixes
 *            com.salesforce. and tureen. are reserved.
 * spec       NULL, or JSON text: {"actions": {"print": {"arguments": {...}}}}, where actions are described as in
 *            bridge-spec/actions. Calls of other actions and calls with invalid arguments then fail before they reach the
 *            plug-in. The text is not needed afterwards.
 * on_call    Called for each call.
 * on_cancel  Called after tureen_cancel. NULL: a cancelled call ends at once with bridge/cancelled, and its answer is ignored.
 * error      NULL, or receives a text to free with tureen_text_free: the error as JSON, if the service is refused.
 * A call that is open when the host closes is answered with bridge/closed, with a message that names the plug-in and the action;
 * on_cancel is not called then.
 * Returns TUREEN_OK; TUREEN_REFUSED: the name is invalid or taken, or the spec is invalid; TUREEN_MISUSE (an argument is NULL),
 * TUREEN_CLOSED, TUREEN_NO_MEMORY. */
int tureen_register(tureen *t, const char *service, const char *spec, tureen_on_call on_call, tureen_on_cancel on_cancel,
                    void *user, char **error);

/* Removes a plug-in. Calls that it has received stay open and can be answered; later ones end with bridge/unknownService. If
 * another thread is in tureen_poll, on_call may be running. Unknown names are ignored.
 * Returns TUREEN_OK, TUREEN_CLOSED or TUREEN_MISUSE. */
int tureen_unregister(tureen *t, const char *service);

/* Answers a call of a plug-in. May be called from any thread and inside on_call; never blocks.
 *
 * kind    TUREEN_ANSWER_RESULT or TUREEN_ANSWER_ERROR, once; before that TUREEN_ANSWER_PROGRESS any number of times. A progress
 *         that the caller has not polled yet is replaced by the next one.
 * json    JSON text of `length` bytes. For an error an object {domain, code, message, retryable, ...}; the default domain is the
 *         service, the default code "failed".
 * Returns TUREEN_OK; TUREEN_NOT_OPEN if the call was already answered or cancelled or does not belong to a plug-in of this
 * handle, which is only logged; TUREEN_MISUSE (an argument is NULL, the kind is invalid, or the text is not JSON; the call stays
 * open); TUREEN_CLOSED. */
int tureen_answer(tureen *t, int64_t call, int kind, const char *json, size_t length);

/* Receives a request of a running sync for a function of the program, a JSON object, which the program answers with
 * tureen_answer_request, now or later:
 *
 *     {"implementation": NAME, "function": FUNCTION, "target": {...}, "arguments": {...}}
 *
 * NAME is the target's "luaImpl", the resolver or the transformation. bridge-spec/guide/targets.md describes the functions.
 * FUNCTION and its arguments      the answer
 *   functions {}                  {"functions": [...]}: which of the functions for uploads there are, of createOnServer to
 *                                 fetchFromServer below; the engine uploads by itself if there are none
 *   startFetch {maxTimeStamp}, continueFetch {more}
 *                                 {"records": [...], "totalSize": n, "more": ...}
 *   remoteIds {localIds}          {"ids": [...]}
 *   createOnServer {record, fields}
 *                                 {"id": ..., "date": ...}, or {"reason": ...}
 *   updateOnServer {record, fields}, deleteOnServer {record}
 *                                 {"status": an HTTP status, "reason": ..., "date": ...}
 *   fetchLastModifiedDates {records}
 *                                 {"dates": [...]}: one each; false: deleted, null: unknown
 *   isNewerThanServer {record}    {"newer": true}
 *   fetchFromServer {records, fields}
 *                                 {"records": [...]}: one each; false: deleted, null: unknown
 *   transform {records}           {"records": [...]}: {"record": the item, or null to drop it} or {"error": text} each
 *   resolveConflict               {"record": ...} or {"resolution": "local", "server" or "skip"}; the arguments are the conflict
 * Any of them may be answered with {"error": text}, and with {"noScript": true} if the program has no such function. The text is
 * valid until the function returns. Runs inside tureen_poll, like all callbacks. */
typedef void (*tureen_on_request)(tureen *t, int64_t request, const char *json, size_t length, void *user);

/* Sets the function that serves the requests of this handle's syncs; NULL: there is none, as at first. A handle of tureen_of has
 * the functions of its Lua state instead. Returns TUREEN_OK, TUREEN_CLOSED or TUREEN_MISUSE. */
int tureen_serve(tureen *t, tureen_on_request on_request, void *user);

/* Answers a request with a JSON object of `length` bytes. May be called from any thread and inside on_request; never blocks. A
 * request that is answered already or was given up is ignored. Returns TUREEN_OK; TUREEN_MISUSE (not an object), TUREEN_REFUSED
 * (too many messages are waiting), TUREEN_CLOSED, TUREEN_NO_MEMORY. */
int tureen_answer_request(tureen *t, int64_t request, const char *json, size_t length);

/* Emits an event to the listeners of this handle, which get it at the next poll. May be called from any thread; never blocks.
 *
 * event  A name in the form of plug-in names, such as com.acme.printer.jammed.
 * json   The detail, JSON text of `length` bytes; NULL for null.
 * Returns TUREEN_OK; TUREEN_REFUSED: too many messages are waiting; TUREEN_MISUSE (an argument is NULL, the name is invalid, or
 * the text is not JSON); TUREEN_CLOSED. */
int tureen_emit(tureen *t, const char *event, const char *json, size_t length);

/* Runs a Lua script in a process of its own, tureen-worker, which has no files, no network and no secrets: it can only call
 * Tureen, which stays in this process and checks each call. For scripts that you do not trust; bridge-spec/guide/security.md says
 * what they can do. Opens a restricted host for the run and closes it at the end. Blocks until the script has ended; the thread
 * must not end meanwhile. Any number of runs may be under way on different threads. After a limit or an interrupt it returns
 * within seconds. A call of the script that cannot be ended, such as a function of SQLite, goes on in a thread of its own, and
 * its store stays in use until it ends.
 *
 * options  JSON object with the settings of tureen_open except "signIn", and
 *            memoryLimit       bytes of the script's memory (256 MiB)
 *            hostMemoryLimit   bytes by which this process may grow during the run (no limit)
 *            instructionLimit  instructions of Lua's virtual machine (no limit)
 *            timeLimitMs       milliseconds, including waits (no limit)
 *            arguments         an array of strings, in `arg` and `...` of the script
 *            allowedHosts      an array of hosts that it may reach besides the org, such as "api.example.com" (none)
 *            allowedServices   an array of services that it may use completely, such as "com.salesforce.oauth" (none)
 *            output, errors    descriptors for what it prints and for its error messages (1 and 2)
 *            worker            the path of tureen-worker (beside the program or the library, or in libexec/tureen of the prefix)
 *            withoutSeccomp    true to run the script even if the system cannot filter system calls
 *          NULL: the defaults.
 * path     The script's file. If `text` is not NULL, only its name for messages.
 * text     The script's text, or NULL.
 * stop_fd  A descriptor that interrupts the script when it becomes readable; -1: none.
 * result   Receives a text to free with tureen_text_free, a JSON object. Its "end" is
 *            done, or interrupted
 *            exited            tureen.main ended the script with "status", 1...255
 *            failed            "message" with a traceback, and "domain" and "code" of the error or ""
 *            notRunnable       the script cannot be read or compiled: "message"
 *            limitReached      "limit" is memory, instructions or time; "message"
 *            workerEnded       the process ended before the script did: "reason" is notStarted, unprotected, systemCall,
 *                              violation, killed, unresponsive or exited; "message"
 * Returns TUREEN_OK; TUREEN_REFUSED: *result is the error as JSON (options or configuration files); TUREEN_MISUSE (path or result
 * is NULL); TUREEN_NO_MEMORY. */
int tureen_run_isolated(const char *options, const char *path, const char *text, int stop_fd, char **result);

/* Returns the version of the library, a constant. */
const char *tureen_version(void);

/* Returns a description of a status in English, a constant; "ok" for numbers that are not negative. */
const char *tureen_status_text(int64_t status);

/* Frees a text that this library returned. NULL is allowed. */
void tureen_text_free(char *text);

struct lua_State;

/* Loads Tureen into a Lua 5.4 state and pushes the module. `require "tureen"` calls it if LUA_CPATH leads to the library. A
 * program that links the library passes it to luaL_requiref instead:
 *
 *     luaL_requiref(L, "tureen", luaopen_tureen, 0);
 *
 * It uses the Lua functions of the program; the library does not contain Lua. Calling it repeatedly returns the same bridge;
 * several states in a process are independent. Closing the state ends its syncs and waits for them. Call it on the state's
 * thread; it raises a Lua error if there is no descriptor or memory left.                                    [-0, +1, e] */
int luaopen_tureen(struct lua_State *L);

/* Returns the handle of a Lua state that has loaded luaopen_tureen, for plug-ins in C that its scripts call:
 *
 *     int luaopen_printer(lua_State *L) {
 *       luaL_requiref(L, "tureen", luaopen_tureen, 0);
 *       return tureen_register(tureen_of(L), "com.acme.printer", NULL, on_call, NULL, NULL, NULL) == TUREEN_OK ? 1 : 0;
 *     }
 *
 * The handle shares the state's host. tureen.poll and tureen.run of the state run the callbacks; tureen.run also waits for calls
 * of tureen_exec. Therefore tureen_poll, tureen_fd and tureen_close return TUREEN_MISUSE, as does tureen_exec on a thread other
 * than the state's. Listeners get the events of the host and of plug-ins, and those of syncs that this handle has started.
 *
 * When the state closes, pending calls of tureen_exec are answered with bridge/closed, and from then on every function returns
 * TUREEN_CLOSED. The handle stays valid until tureen_free was called as often as this function. Call it on the state's thread.
 * Scripts of `tureen run` have loaded Tureen: the handle is then that of the command's bridge, which must be of the same
 * version as this library. Returns NULL if the state has not loaded Tureen or has closed it, if the versions differ, or if
 * there is no memory. */
tureen *tureen_of(struct lua_State *L);

#ifdef __cplusplus
}
#endif
#endif
