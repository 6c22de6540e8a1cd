/* What libtureen.so offers to programs: a host of their own, without Lua, and the way into a Lua state they have.
 *
 *     tureen *t;
 *     if (tureen_open("{\"home\": \"/var/lib/kiosk\"}", &t, NULL) != TUREEN_OK) ...
 *     tureen_exec(t, "com.salesforce.smartstore", "pgSoupExists", "{\"soupName\": \"people\"}", on_answer, NULL, NULL);
 *     while (tureen_pending(t) > 0) tureen_poll(t, -1);
 *     tureen_free(t);
 *
 * The library keeps nothing outside its handles, installs no signal handlers, leaves signals to the program's own threads and
 * writes to neither stdout nor stderr, unless TUREEN_LOG in the environment asks for a log. Any number of hosts may be open at
 * once; two of one home see each other's stores as two processes would. A handle does not survive fork(): open it in the child.
 *
 * Threads: every function may be called from any thread, also from several at once, except where it says otherwise. Callbacks
 * run inside tureen_poll, tureen_close and tureen_free alone, on the thread that called; never two of a host at once. A
 * callback may call everything but tureen_poll of its own host. It must return: no longjmp, no C++ exception through it.
 *
 * All text is UTF-8; what callbacks get ends with a zero byte and lives until they return. Services, actions, their arguments
 * and answers: bridge-spec/actions. Errors are JSON objects {domain, code, message, retryable, ...}: bridge-spec/errors.json. */
#ifndef TUREEN_H
#define TUREEN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version this header belongs to; tureen_version() is the library's. */
#define TUREEN_VERSION "0.1.0"

/* A host: stores, syncs and the client of one org. */
typedef struct tureen tureen;

/* What functions return; all that went wrong is below 0. */
enum {
  TUREEN_OK = 0,
  TUREEN_MISUSE = -1,    /* an argument is NULL or wrong, or a call stands where it must not */
  TUREEN_CLOSED = -2,    /* the handle is closed */
  TUREEN_NO_MEMORY = -3, /* nothing was done */
  TUREEN_REFUSED = -4,   /* the host says why in *error */
  TUREEN_SYSTEM = -5,    /* the system refused, and errno says why */
  TUREEN_NOT_OPEN = -6   /* the call was answered or given up before, or was never one of a plug-in of this handle */
};

/* What an answer is. The first two end the call; each call that was accepted ends once. */
enum {
  TUREEN_ANSWER_RESULT = 1,  /* json is the result; of a sync its state, DONE or STOPPED */
  TUREEN_ANSWER_ERROR = 2,   /* json is the error; of a sync that FAILED with its state under "sync" */
  TUREEN_ANSWER_PROGRESS = 3 /* json is what has changed: the state of a running sync, the changes an observer saw, what a
                                plug-in says of its progress */
};

/* Hears what becomes of a call. `kind` is one of TUREEN_ANSWER_...; `length` leaves the zero byte out. */
typedef void (*tureen_on_answer)(tureen *t, int64_t call, int kind, const char *json, size_t length, void *user);

/* Hears of an event; `json` is its detail. */
typedef void (*tureen_on_event)(tureen *t, const char *event, const char *json, size_t length, void *user);

/* Opens a host. Reaches for no network and opens no store: that happens with the first call that needs it.
 *
 * options  JSON object with the settings of tureen.configure: home, org, credentials, apiVersion, caFile, config, recover,
 *          connections, logRequests, logRequestsFile and the keys of encrypted stores; and "signIn": "program", see
 *          tureen_give_session. NULL or "{}": what the environment says, else the defaults. The org "sandbox" is one that
 *          `tureen sandbox` serves under the same home.
 * out      gets the handle, NULL on failure.
 * error    NULL, or gets a text for tureen_text_free: the error as JSON; NULL on success.
 * Returns TUREEN_OK, TUREEN_MISUSE (out is NULL), TUREEN_REFUSED (options or configuration files), TUREEN_NO_MEMORY. */
int tureen_open(const char *options, tureen **out, char **error);

/* Closes a host: refuses new calls, stops its syncs at their next page, closes stores and connections, waits for all of it,
 * and answers every call that is still open with the error bridge/closed, on this thread, before it returns. Always returns:
 * requests on their way are broken off, and queries that run are ended.
 *
 * From inside a callback it does the same at once; the tureen_poll around it then returns. While another thread is in
 * tureen_poll, it waits until the callback that runs there has returned. A second call does nothing; on another thread it waits
 * for the first. Afterwards every function but tureen_free answers TUREEN_CLOSED. The descriptor is closed, so take it out of
 * your loop before. Returns TUREEN_OK, or TUREEN_MISUSE for NULL. */
int tureen_close(tureen *t);

/* Closes the host if it is open, and gives the handle back: the last use of it. No other thread may be in a function of this
 * host, or enter one. Inside a callback the memory goes when the function around it returns. NULL is fine. */
void tureen_free(tureen *t);

/* A descriptor that is readable while tureen_poll would deliver something, for poll(2) and its like. Do not read from it or
 * close it; it stays the same until tureen_close. Returns it, TUREEN_CLOSED or TUREEN_MISUSE. */
int tureen_fd(tureen *t);

/* Runs the callbacks that wait. Sleeps for the first one `timeout_ms` at most, without end when that is below 0; a signal
 * handler of the program's ends the sleep. What arrives meanwhile is left for the next time.
 *
 * One thread at a time; it may be another each time. Returns how many messages were delivered; TUREEN_CLOSED, also when the
 * host is closed meanwhile; TUREEN_MISUSE when t is NULL, inside a callback of this host, or while another thread polls;
 * TUREEN_SYSTEM. */
int tureen_poll(tureen *t, int timeout_ms);

/* Makes a call: what it has to say comes through `answer`, never inside this function. Never blocks.
 *
 * arguments  JSON object; NULL for none. `isGlobalStore` and `storeName` in it choose the store. Calls of one store are carried
 *            out in the order they were made.
 * answer     NULL: without a callback. Listeners of uncaughtError then hear of a failure, as does the log; not of a call that
 *            was given up with tureen_cancel, or that the host's close has ended.
 * error      NULL, or gets a text for tureen_text_free when the call is refused.
 * Sync targets of type "custom" and the sync option "resolver" name functions of Lua scripts. There is none here, so such a sync
 * fails with sync/customTarget, or at its first conflict with sync/resolver; without "resolver" conflicts are kept, for
 * getConflicts and resolveConflict. Custom targets work in a Lua state that has loaded luaopen_tureen.
 *
 * Returns the call's id, above 0; or TUREEN_REFUSED (too many calls wait), TUREEN_CLOSED, TUREEN_MISUSE (a NULL),
 * TUREEN_NO_MEMORY; `answer` is then never called. An unknown service or action and wrong arguments are answers. */
int64_t tureen_exec(tureen *t, const char *service, const char *action, const char *arguments, tureen_on_answer answer,
                    void *user, char **error);

/* Gives up a call as far as that can be done: a sync stops at its next page, a request is broken off, a query of a store ends
 * with smartstore/cancelled. It is answered all the same. Ids of calls that have ended are fine. Returns TUREEN_OK,
 * TUREEN_CLOSED or TUREEN_MISUSE. */
int tureen_cancel(tureen *t, int64_t call);

/* How many calls will still be answered; observers (pgObserve) that are open count. TUREEN_CLOSED, TUREEN_MISUSE. */
int64_t tureen_pending(tureen *t);

/* Calls `listener` for each event of that name: sync, online, offline, pause, resume, salesforceSessionRefresh, sessionLost,
 * sessionNeeded, userSwitched or uncaughtError (see bridge-spec/events), or a name with a dot, as the events of plug-ins have. A
 * sync's event comes after the answer it belongs to; where an event has no detail, json is null.
 * Listeners are called in the order they were added; one added while an event is told waits for the next.
 * Returns a number above 0 for tureen_unlisten; TUREEN_MISUSE (a NULL, another name), TUREEN_CLOSED, TUREEN_NO_MEMORY. */
int64_t tureen_listen(tureen *t, const char *event, tureen_on_event listener, void *user);

/* Ends that. When another thread is in tureen_poll the listener may just be running. Unknown numbers are fine.
 * Returns TUREEN_OK, TUREEN_CLOSED or TUREEN_MISUSE. */
int tureen_unlisten(tureen *t, int64_t listener);

/* How the program stands, for tureen_report. */
enum { TUREEN_OFFLINE = 0, TUREEN_ONLINE = 1, TUREEN_PAUSE = 2, TUREEN_RESUME = 3 };

/* Tells the host what the program knows better: whether there is a network (requests are tried either way), or that it rests
 * and goes on. With TUREEN_PAUSE running syncs stop at their next page and new ones are refused; TUREEN_RESUME runs those again
 * from where they were, and tells of it by `sync` events. Listeners hear of a change when the host is next polled. Never blocks.
 * Returns TUREEN_OK, TUREEN_CLOSED, or TUREEN_MISUSE for another number. */
int tureen_report(tureen *t, int state);

/* Gives the host a session, where the options say "signIn": "program": the program signs in, and the host neither keeps the
 * session in a file nor has any other way to get one. With the first request of the org, and again when the org has refused the
 * token, listeners of sessionNeeded hear {"org", "user", "reason"}, "org" as in the options and "reason" "noSession" or
 * "refused". From then on the host waits 120 s; its requests wait with it.
 *
 * json  {"accessToken": ..., "instanceUrl": ...}, with "identityUrl" where it is known: it names user and org. Or, when there is
 *       no session to give, {"error": ..., "message": ...}: requests then fail with network/notAuthenticated and that message.
 *       The token is used unchecked; one that the org has just refused makes them fail with network/sessionExpired.
 * From any thread and inside callbacks; never blocks. Returns TUREEN_OK; TUREEN_MISUSE for a NULL and for another text, which is
 * not used, and the host goes on waiting; TUREEN_REFUSED when nothing waits for a session, say after 120 s; TUREEN_CLOSED. */
int tureen_give_session(tureen *t, const char *json);

/* A plug-in of the program gets a call: it answers with tureen_answer, now or later. `arguments` is a JSON object without
 * spaces; `length` leaves the zero byte out. Both texts live until the function returns. Runs inside tureen_poll, as all
 * callbacks do. */
typedef void (*tureen_on_call)(tureen *t, int64_t call, const char *action, const char *arguments, size_t length, void *user);

/* The caller has given up a call that the plug-in has got, or the answer was on its way. The plug-in still answers it. */
typedef void (*tureen_on_cancel)(tureen *t, int64_t call, void *user);

/* Adds a service that the program carries out itself. tureen_exec of this handle reaches it, from everywhere in the program;
 * Lua states that have loaded luaopen_tureen have hosts of their own and do not.
 *
 * service    Its name: reverse-DNS, as com.acme.printer; letters, digits and '_' in at least two parts. Not below com.salesforce.
 *            or tureen.
 * spec       NULL, or JSON text: {"actions": {"print": {"arguments": {...}}}}, where an action is described as in
 *            bridge-spec/actions. Calls of other actions and with wrong arguments are then answered with an error, and the
 *            plug-in does not hear of them. The text is not needed afterwards.
 * on_call    Gets each call.
 * on_cancel  Hears of tureen_cancel. NULL: a call that is given up ends at once with bridge/cancelled, and its answer is late.
 * error      NULL, or gets a text for tureen_text_free: the error as JSON, when this is refused.
 * A call that is still open when the host closes is answered with bridge/closed, whose message names the plug-in and the action;
 * on_cancel is not called then.
 * Returns TUREEN_OK; TUREEN_REFUSED: the name is wrong or taken, or the spec is wrong; TUREEN_MISUSE (a NULL), TUREEN_CLOSED,
 * TUREEN_NO_MEMORY. */
int tureen_register(tureen *t, const char *service, const char *spec, tureen_on_call on_call, tureen_on_cancel on_cancel,
                    void *user, char **error);

/* Removes a plug-in. Calls that it has got stay open and can be answered; the others end with bridge/unknownService. When
 * another thread is in tureen_poll, on_call may just be running. Unknown names are fine.
 * Returns TUREEN_OK, TUREEN_CLOSED or TUREEN_MISUSE. */
int tureen_unregister(tureen *t, const char *service);

/* Answers a call that a plug-in has got. From any thread, also inside on_call; never blocks.
 *
 * kind    TUREEN_ANSWER_RESULT or TUREEN_ANSWER_ERROR, once; before it TUREEN_ANSWER_PROGRESS as often as you like. A progress
 *         that the caller has not polled yet gives way to the next one.
 * json    JSON text of `length` bytes. Of an error an object {domain, code, message, retryable, ...}; without a domain it is the
 *         service, without a code "failed".
 * Returns TUREEN_OK; TUREEN_NOT_OPEN: the answer comes late or twice, or the call is not of a plug-in of this handle; nothing
 * happens but a warning in the log; TUREEN_MISUSE (a NULL, another kind, not JSON; the call stays open), TUREEN_CLOSED. */
int tureen_answer(tureen *t, int64_t call, int kind, const char *json, size_t length);

/* Tells the listeners of this handle of an event when it is next polled. From any thread; never blocks.
 *
 * event  A name as those of plug-ins: com.acme.printer.jammed.
 * json   Its detail, JSON text of `length` bytes; NULL for null.
 * Returns TUREEN_OK; TUREEN_REFUSED: too much waits to be polled; TUREEN_MISUSE (a NULL, a wrong name, not JSON);
 * TUREEN_CLOSED. */
int tureen_emit(tureen *t, const char *event, const char *json, size_t length);

/* The library's version. Constant. */
const char *tureen_version(void);

/* What a status means, in English; for numbers from 0 on "ok". Constant. */
const char *tureen_status_text(int64_t status);

/* Frees a text this library gave. NULL is fine. */
void tureen_text_free(char *text);

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
