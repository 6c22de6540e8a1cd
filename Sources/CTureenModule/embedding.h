/* What the files behind the C API share. Internal to this target. */
#ifndef TUREEN_EMBEDDING_H
#define TUREEN_EMBEDDING_H

#include <pthread.h>

#include "include/tureen.h"
#include "tureen_bridge.h"

/* Makes a bridge to a host with these options, in the Swift target Tureen: 1, or 0 with the error object in *refusal. */
extern int tureen_embedded_host(const char *options, size_t length, tureen_host *out, tureen_bytes *refusal);

/* As tureen_host.call, but finds the store in the arguments. *store gets the members that the events of a sync end with:
 * ,"isGlobalStore":...,"storeName":...} */
extern int64_t tureen_embedded_call(void *context, const tureen_request *request, tureen_bytes *store,
                                    tureen_bytes *refusal);

/* Makes what listeners of `uncaughtError` get for a call without a callback that has failed, JSON in *detail, and logs it. */
extern void tureen_embedded_uncaught(const char *service, const char *action, const char *error, size_t length,
                                     tureen_bytes *detail);

/* Tells the host how the program stands: TUREEN_OFFLINE and its like. Never blocks. */
extern void tureen_embedded_report(void *context, int32_t state);

/* Hands the host what the program gives after `sessionNeeded`: TUREEN_OK, TUREEN_MISUSE, TUREEN_REFUSED. Never blocks. */
extern int32_t tureen_embedded_give_session(void *context, const char *json, size_t length);

/* A call that will still be answered. */
typedef struct pending_call {
  struct pending_call *next; /* in its bucket */
  int64_t id;
  tureen_on_answer answer;
  void *user;
  int is_sync;
  int is_given_up;    /* by tureen_cancel: how it ends is of no interest */
  tureen_bytes store; /* end of the detail of its events; of syncs only */
  char *service, *action; /* of a call without a callback, whose failure names it, or of a plug-in; else NULL */
  int is_of_plugin;
} pending_call;

/* The calls by id. */
typedef struct call_table {
  pending_call **buckets;
  size_t size, count; /* `size` is a power of two, or 0 */
} call_table;

/* Makes room for one more call: 1, or 0 without memory. */
int tureen_calls_reserve(call_table *table);
/* Adds a call; room was made for it. */
void tureen_calls_add(call_table *table, pending_call *call);
/* The call with this id, NULL when there is none. */
pending_call *tureen_calls_find(const call_table *table, int64_t id);
/* Takes it out; the caller frees it. */
pending_call *tureen_calls_remove(call_table *table, int64_t id);
/* Takes out any call; NULL when none is left. */
pending_call *tureen_calls_remove_any(call_table *table);
void tureen_call_free(pending_call *call);

typedef struct event_listener {
  struct event_listener *next; /* the one added after it */
  int64_t id;
  tureen_on_event listener;
  void *user;
  char event[]; /* the name */
} event_listener;

/* A plug-in that is registered. */
typedef struct plugin {
  struct plugin *next;
  int64_t number;
  tureen_on_call on_call;
  tureen_on_cancel on_cancel;
  void *user;
  char service[]; /* the name */
} plugin;

/* All is touched only with `lock` held, but for what says otherwise. */
struct tureen {
  pthread_mutex_t lock;
  pthread_cond_t changed; /* `is_polling` or `is_released` */
  tureen_host host;       /* its functions; final. Not to be used once `is_released` is set, or begun by the thread at it */
  int fd;                 /* final */
  int is_closed;          /* nothing new is accepted */
  int is_released;        /* the host is gone and every call is answered */
  int is_freed;           /* the last thread to leave frees the handle */
  int is_polling;
  int depth;        /* functions under way that run callbacks */
  pthread_t poller; /* while `is_polling` */
  pthread_t closer; /* once `is_closed` */
  call_table calls;
  event_listener *listeners;
  int64_t last_listener;
  plugin *plugins;
  int is_offline, is_paused; /* what the last events said; of the thread that polls */
};

/* Whether the program has a plug-in of that name. With `t->lock` held. */
int tureen_has_plugin(const tureen *t, const char *service);
/* Hands a call, or its cancellation, to its plug-in; `t->lock` is not held. Frees the payload. */
void tureen_deliver_call(tureen *t, tureen_message *message);

/* Hands a message to those it concerns; `t->lock` is not held. Frees the payload. */
void tureen_deliver(tureen *t, tureen_message *message);
/* Answers every call that is open with `closed`; `t->lock` is not held. */
void tureen_answer_all_closed(tureen *t);

/* The bytes as a text that ends with a zero byte; the caller frees it. NULL without memory. Takes the bytes over. */
char *tureen_text_of(tureen_bytes *bytes);

#endif
