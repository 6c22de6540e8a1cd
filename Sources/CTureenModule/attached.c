/* Handles that share the bridge of a Lua state: plug-ins and calls of a C program or module next to the state's scripts.
 *
 * The state's polls hand the messages over. The bridge belongs to the state, so nothing reaches it once `is_closed` is set; that
 * happens with the lock held, before the bridge is released. */
#include <stdlib.h>

#include "embedding.h"

#define PUBLIC __attribute__((visibility("default")))

/* Returns 1 if a message is only for the handle. Events are for the scripts as well. `t->lock` must be held. */
static int is_ours(const tureen *t, const tureen_message *message) {
  switch (message->kind) {
    case TUREEN_CALL:
    case TUREEN_CALL_OVER: return tureen_plugin(t, message->plugin) != NULL;
    case TUREEN_REQUEST:
    case TUREEN_EVENT: return 0;
    default: return tureen_calls_find(&t->calls, message->call) != NULL;
  }
}

static int take(void *context, tureen_message *message) {
  tureen *t = context;
  pthread_mutex_lock(&t->lock);
  t->poller = pthread_self();
  int ours = is_ours(t, message);
  int is_heard = message->kind == TUREEN_EVENT && t->listeners != NULL && message->payload.data != NULL;
  pthread_mutex_unlock(&t->lock);
  if (ours) tureen_deliver(t, message);
  else if (is_heard) tureen_deliver_event(t, message->payload.data, message->payload.length);
  return ours;
}

static int64_t pending(void *context) {
  tureen *t = context;
  pthread_mutex_lock(&t->lock);
  int64_t count = (int64_t)t->calls.count;
  pthread_mutex_unlock(&t->lock);
  return count;
}

static void closing(void *context) {
  tureen *t = context;
  pthread_mutex_lock(&t->lock);
  t->is_closed = 1;
  pthread_mutex_unlock(&t->lock);
}

static void closed(void *context) {
  tureen *t = context;
  tureen_answer_all_closed(t);
  pthread_mutex_lock(&t->lock);
  t->is_released = 1;
  int is_last = t->uses == 0;
  pthread_mutex_unlock(&t->lock);
  if (is_last) tureen_destroy(t);
}

void tureen_drop(tureen *t) {
  pthread_mutex_lock(&t->lock);
  int is_last = t->uses > 0 && --t->uses == 0 && t->is_released;
  pthread_mutex_unlock(&t->lock);
  if (is_last) tureen_destroy(t);
}

PUBLIC tureen *tureen_of(struct lua_State *L) {
  tureen_guest *guest = L == NULL ? NULL : tureen_bridge_guest(L);
  if (guest == NULL) return NULL;
  tureen *t = guest->context;
  if (t == NULL) {
    t = calloc(1, sizeof *t);
    if (t == NULL) return NULL;
    t->host = *tureen_bridge_host(L);
    t->is_attached = 1;
    tureen_begin(t);
    *guest = (tureen_guest){.context = t, .take = take, .pending = pending, .closing = closing, .closed = closed};
  }
  pthread_mutex_lock(&t->lock);
  t->poller = pthread_self();
  t->uses++;
  pthread_mutex_unlock(&t->lock);
  return t;
}
