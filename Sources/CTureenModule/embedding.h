/* Declarations shared by the files of the C API. Internal to this target. */
#ifndef TUREEN_EMBEDDING_H
#define TUREEN_EMBEDDING_H

#include <pthread.h>

#include "include/tureen.h"
#include "tureen_bridge.h"

/* Creates a bridge to a host with these options. Returns 1, or 0 with the error object in *refusal. Defined in the Swift target
 * Tureen. */
extern int tureen_embedded_host(const char *options, size_t length, tureen_host *out, tureen_bytes *refusal);

/* Builds the JSON detail of `uncaughtError` for a failed call without a callback in *detail, and logs the failure. */
extern void tureen_embedded_uncaught(const char *service, const char *action, const char *error, size_t length,
                                     tureen_bytes *detail);

/* Runs a script in a process of its own. Returns 1 with its end in *result, or 0 with the error object. Blocks. */
extern int tureen_embedded_isolated(const char *options, const char *path, const char *text, int32_t stop,
                                    tureen_bytes *result);

/* Returns the length of the longest prefix that is valid UTF-8. Defined in the C target CLuaBridge. */
extern size_t tureen_utf8_prefix(const char *text, size_t length);

/* A pending call. */
typedef struct pending_call {
  struct pending_call *next; /* in its bucket */
  int64_t id;
  tureen_on_answer answer;
  void *user;
  int is_sync;
  int is_given_up;    /* cancelled by tureen_cancel: a failure is not reported */
  tureen_bytes store; /* for syncs: the final members of the detail of its events */
  char *service, *action; /* for a call without a callback, to name it in errors, or of a plug-in; else NULL */
  int is_of_plugin;
} pending_call;

/* A hash table of the pending calls by id. */
typedef struct call_table {
  pending_call **buckets;
  size_t size, count; /* `size` is a power of two, or 0 */
} call_table;

/* Reserves room for one more call. Returns 1, or 0 without memory. */
int tureen_calls_reserve(call_table *table);
/* Adds a call, for which room was reserved. */
void tureen_calls_add(call_table *table, pending_call *call);
/* Returns the call with this id; NULL if there is none. */
pending_call *tureen_calls_find(const call_table *table, int64_t id);
/* Removes the call with this id and returns it; the caller frees it. */
pending_call *tureen_calls_remove(call_table *table, int64_t id);
/* Removes and returns any call; NULL if there is none. */
pending_call *tureen_calls_remove_any(call_table *table);
void tureen_call_free(pending_call *call);

typedef struct event_listener {
  struct event_listener *next; /* the one added after it */
  int64_t id;
  tureen_on_event listener;
  void *user;
  char event[]; /* the name */
} event_listener;

/* A registered plug-in. */
typedef struct plugin {
  struct plugin *next;
  int64_t number;
  tureen_on_call on_call;
  tureen_on_cancel on_cancel;
  void *user;
  char service[]; /* the name */
} plugin;

/* A handle. Its members are accessed only with `lock` held, unless stated otherwise. */
struct tureen {
  pthread_mutex_t lock;
  pthread_cond_t changed; /* signalled when `is_polling` or `is_released` changes */
  tureen_host host;       /* constant. Must not be used once `is_released` is set or the closing thread is releasing it */
  int fd;                 /* constant */
  int is_closed;          /* new calls are refused */
  int is_released;        /* the host is released and every call is answered */
  int is_freed;           /* the last thread to leave frees the handle */
  int is_polling;
  int depth;        /* the number of running functions that run callbacks */
  pthread_t poller; /* valid while `is_polling` */
  pthread_t closer; /* valid once `is_closed` */
  call_table calls;
  event_listener *listeners;
  int64_t last_listener;
  plugin *plugins;
  tureen_on_request on_request; /* NULL: the program serves none */
  void *request_user;
  int is_offline, is_paused; /* the state in the last events; used only by the polling thread */
  int is_attached; /* constant; it shares a Lua state's bridge, whose polls deliver; `poller` is the thread of the last one */
  int uses;        /* for an attached handle: the number of tureen_of calls without tureen_free */
};

/* Initializes a handle whose host is set. */
void tureen_begin(tureen *t);
/* Frees a handle that is no longer in use. */
void tureen_destroy(tureen *t);
/* Releases one use of an attached handle. */
void tureen_drop(tureen *t);

/* Returns 1 if the program has a plug-in of that name. `t->lock` must be held. */
int tureen_has_plugin(const tureen *t, const char *service);
/* Delivers a call or its cancellation to its plug-in and frees the payload. `t->lock` must not be held. */
void tureen_deliver_call(tureen *t, tureen_message *message);

/* Delivers a request of the engine, or answers that it is not served, and frees the payload. `t->lock` must not be held. */
void tureen_deliver_request(tureen *t, tureen_message *message);

/* The plug-in with this number; NULL if it is not registered. With `t->lock` held, and valid while it is. */
const plugin *tureen_plugin(const tureen *t, int64_t number);
/* Calls the listeners of an event of the host, {event, detail, request?}. `t->lock` must not be held. */
void tureen_deliver_event(tureen *t, const char *json, size_t length);

/* Delivers a message to its callbacks and listeners, and frees the payload. `t->lock` must not be held. */
void tureen_deliver(tureen *t, tureen_message *message);
/* Answers every pending call with `closed`. `t->lock` must not be held. */
void tureen_answer_all_closed(tureen *t);

/* Converts bytes to a text that ends with a zero byte, which the caller frees; NULL without memory. Takes ownership of the
 * bytes. */
char *tureen_text_of(tureen_bytes *bytes);

#endif
