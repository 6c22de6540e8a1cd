/* The C API of tureen.h: handles, calls and listeners, based on the same host functions as the Lua bridge. */
#include "embedding.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PUBLIC __attribute__((visibility("default")))

/* Passes the text of a refusal to the caller if it wants it. */
static void hand_over(tureen_bytes *refusal, char **error) {
  if (error != NULL && refusal->data != NULL) *error = tureen_text_of(refusal);
  else free(refusal->data);
}

PUBLIC int tureen_open(const char *options, tureen **out, char **error) {
  if (error != NULL) *error = NULL;
  if (out == NULL) return TUREEN_MISUSE;
  *out = NULL;
  tureen *t = calloc(1, sizeof *t);
  if (t == NULL) return TUREEN_NO_MEMORY;
  tureen_bytes refusal = {NULL, 0};
  if (options == NULL) options = "{}";
  if (!tureen_embedded_host(options, strlen(options), &t->host, &refusal)) {
    free(t);
    hand_over(&refusal, error);
    return TUREEN_REFUSED;
  }
  tureen_begin(t);
  *out = t;
  return TUREEN_OK;
}

void tureen_begin(tureen *t) {
  pthread_mutex_init(&t->lock, NULL);
  pthread_cond_init(&t->changed, NULL);
  t->fd = t->host.wait_fd(t->host.context);
}

void tureen_destroy(tureen *t) {
  while (t->plugins != NULL) {
    plugin *next = t->plugins->next;
    free(t->plugins);
    t->plugins = next;
  }
  while (t->listeners != NULL) {
    event_listener *next = t->listeners->next;
    free(t->listeners);
    t->listeners = next;
  }
  free(t->calls.buckets);
  pthread_cond_destroy(&t->changed);
  pthread_mutex_destroy(&t->lock);
  free(t);
}

/* Leaves a function that runs callbacks. Releases the lock, which must be held. */
static void leave(tureen *t) {
  int is_last = --t->depth == 0 && t->is_freed;
  pthread_cond_broadcast(&t->changed);
  pthread_mutex_unlock(&t->lock);
  if (is_last) tureen_destroy(t);
}

PUBLIC int tureen_close(tureen *t) {
  if (t == NULL || t->is_attached) return TUREEN_MISUSE;
  pthread_t self = pthread_self();
  pthread_mutex_lock(&t->lock);
  if (t->is_closed) {
    /* Do not wait inside a callback of the running close, or of the poll that it waits for. */
    int is_inside = pthread_equal(t->closer, self) || (t->is_polling && pthread_equal(t->poller, self));
    while (!t->is_released && !is_inside) pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
    return TUREEN_OK;
  }
  t->is_closed = 1;
  t->closer = self;
  t->depth++;
  if (t->is_polling && !pthread_equal(t->poller, self)) {
    t->host.wake(t->host.context);
    while (t->is_polling) pthread_cond_wait(&t->changed, &t->lock);
  }
  pthread_mutex_unlock(&t->lock);
  t->host.release(t->host.context);
  tureen_answer_all_closed(t);
  pthread_mutex_lock(&t->lock);
  t->is_released = 1;
  leave(t);
  return TUREEN_OK;
}

PUBLIC void tureen_free(tureen *t) {
  if (t == NULL) return;
  if (t->is_attached) {
    tureen_drop(t);
    return;
  }
  tureen_close(t);
  pthread_mutex_lock(&t->lock);
  t->is_freed = 1;
  t->depth++;
  leave(t);
}

PUBLIC int tureen_fd(tureen *t) {
  if (t == NULL || t->is_attached) return TUREEN_MISUSE;
  pthread_mutex_lock(&t->lock);
  int fd = t->is_closed ? TUREEN_CLOSED : t->fd;
  pthread_mutex_unlock(&t->lock);
  return fd;
}

/* Waits for a message, the timeout or a signal. Returns 0 if the system call fails. */
static int wait_for_message(int fd, int timeout_ms) {
  struct pollfd ready = {.fd = fd, .events = POLLIN};
  return poll(&ready, 1, timeout_ms < 0 ? -1 : timeout_ms) >= 0 || errno == EINTR;
}

/* Takes the next message. Returns 1, or 0 if none is waiting or the host is closed. */
static int take(tureen *t, tureen_message *message) {
  pthread_mutex_lock(&t->lock);
  int is_open = !t->is_closed;
  pthread_mutex_unlock(&t->lock);
  /* Only this thread releases the host while it polls. */
  return is_open && t->host.take(t->host.context, message);
}

PUBLIC int tureen_poll(tureen *t, int timeout_ms) {
  if (t == NULL || t->is_attached) return TUREEN_MISUSE;
  pthread_mutex_lock(&t->lock);
  int refusal = t->is_closed ? TUREEN_CLOSED : t->is_polling ? TUREEN_MISUSE : TUREEN_OK;
  if (refusal != TUREEN_OK) {
    pthread_mutex_unlock(&t->lock);
    return refusal;
  }
  t->is_polling = 1;
  t->poller = pthread_self();
  t->depth++;
  pthread_mutex_unlock(&t->lock);

  int delivered = 0, can_sleep = wait_for_message(t->fd, timeout_ms), reason = errno;
  tureen_message message;
  for (int64_t waiting = t->host.waiting(t->host.context); waiting > 0 && take(t, &message); waiting--) {
    tureen_deliver(t, &message);
    if (delivered < INT_MAX) delivered++;
  }

  pthread_mutex_lock(&t->lock);
  t->is_polling = 0;
  if (t->is_closed) delivered = TUREEN_CLOSED;
  leave(t);
  if (delivered >= 0 && !can_sleep) errno = reason;
  return delivered >= 0 && !can_sleep ? TUREEN_SYSTEM : delivered;
}

/* Stores the service and the action of a call. Returns 1, or 0 without memory. */
static int name_call(pending_call *call, const char *service, const char *action) {
  call->service = strdup(service);
  call->action = strdup(action);
  return call->service != NULL && call->action != NULL;
}

/* Creates a call; returns NULL without memory. */
static pending_call *new_call(const char *service, const char *action, tureen_on_answer answer, void *user) {
  pending_call *call = calloc(1, sizeof *call);
  if (call == NULL) return NULL;
  call->answer = answer;
  call->user = user;
  call->is_sync = strcmp(service, "com.salesforce.mobilesync") == 0;
  if (answer != NULL || name_call(call, service, action)) return call;
  tureen_call_free(call);
  return NULL;
}

PUBLIC int64_t tureen_exec(tureen *t, const char *service, const char *action, const char *arguments,
                           tureen_on_answer answer, void *user, char **error) {
  if (error != NULL) *error = NULL;
  if (t == NULL || service == NULL || action == NULL) return TUREEN_MISUSE;
  if (arguments == NULL) arguments = "{}";
  tureen_request request = {.service = service,
                            .service_length = strlen(service),
                            .action = action,
                            .action_length = strlen(action),
                            .arguments = arguments,
                            .arguments_length = strlen(arguments)};
  tureen_bytes refusal = {NULL, 0};
  pending_call *call = new_call(service, action, answer, user);
  if (call == NULL) return TUREEN_NO_MEMORY;
  pthread_mutex_lock(&t->lock);
  int is_foreign = t->is_attached && !pthread_equal(t->poller, pthread_self());
  int64_t id = t->is_closed                        ? TUREEN_CLOSED
               : is_foreign                        ? TUREEN_MISUSE
               : tureen_calls_reserve(&t->calls) ? 0
                                                   : TUREEN_NO_MEMORY;
  if (id == 0 && tureen_has_plugin(t, service)) {
    call->is_of_plugin = 1;
    if (call->service == NULL && !name_call(call, service, action)) id = TUREEN_NO_MEMORY;
  }
  if (id == 0) {
    id = t->host.embedded_call == NULL ? 0 : t->host.embedded_call(t->host.context, &request, &call->store, &refusal);
    call->id = id;
    if (id > 0) tureen_calls_add(&t->calls, call);
    else id = TUREEN_REFUSED;
  }
  pthread_mutex_unlock(&t->lock);
  if (id < 0) tureen_call_free(call);
  hand_over(&refusal, error);
  return id;
}

PUBLIC int tureen_cancel(tureen *t, int64_t call) {
  if (t == NULL) return TUREEN_MISUSE;
  pthread_mutex_lock(&t->lock);
  int is_open = !t->is_closed;
  pending_call *given_up = is_open ? tureen_calls_find(&t->calls, call) : NULL;
  if (given_up != NULL) given_up->is_given_up = 1;
  if (is_open) t->host.cancel(t->host.context, call);
  pthread_mutex_unlock(&t->lock);
  return is_open ? TUREEN_OK : TUREEN_CLOSED;
}

PUBLIC int64_t tureen_pending(tureen *t) {
  if (t == NULL) return TUREEN_MISUSE;
  pthread_mutex_lock(&t->lock);
  int64_t count = t->is_closed ? TUREEN_CLOSED : (int64_t)t->calls.count;
  pthread_mutex_unlock(&t->lock);
  return count;
}

PUBLIC int tureen_report(tureen *t, int state) {
  if (t == NULL || state < TUREEN_OFFLINE || state > TUREEN_RESUME) return TUREEN_MISUSE;
  pthread_mutex_lock(&t->lock);
  int is_open = !t->is_closed;
  if (is_open && t->host.report != NULL) t->host.report(t->host.context, state);
  pthread_mutex_unlock(&t->lock);
  return is_open ? TUREEN_OK : TUREEN_CLOSED;
}

PUBLIC int tureen_give_session(tureen *t, const char *json) {
  if (t == NULL || json == NULL) return TUREEN_MISUSE;
  pthread_mutex_lock(&t->lock);
  int status = t->is_closed                     ? TUREEN_CLOSED
               : t->host.give_session == NULL ? TUREEN_REFUSED
                                              : t->host.give_session(t->host.context, json, strlen(json));
  pthread_mutex_unlock(&t->lock);
  return status;
}

/* Returns 1 if the host sends such an event; the other events of bridge-spec/events are sent by scripts. */
static int is_told(const char *event) {
  static const char *const events[] = {"sync", "online", "offline", "pause", "resume", "salesforceSessionRefresh", "sessionLost",
                                       "sessionNeeded", "userSwitched", "uncaughtError"};
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    if (strcmp(events[i], event) == 0) return 1;
  return strchr(event, '.') != NULL; /* of a plug-in */
}

PUBLIC int64_t tureen_listen(tureen *t, const char *event, tureen_on_event listener, void *user) {
  if (t == NULL || event == NULL || listener == NULL || !is_told(event)) return TUREEN_MISUSE;
  size_t size = strlen(event) + 1;
  if (tureen_utf8_prefix(event, size - 1) != size - 1) return TUREEN_MISUSE;
  event_listener *added = malloc(sizeof *added + size);
  if (added == NULL) return TUREEN_NO_MEMORY;
  added->next = NULL;
  added->listener = listener;
  added->user = user;
  memcpy(added->event, event, size);
  pthread_mutex_lock(&t->lock);
  int64_t id = TUREEN_CLOSED;
  if (!t->is_closed) {
    event_listener **end = &t->listeners;
    while (*end != NULL) end = &(*end)->next;
    *end = added;
    id = added->id = ++t->last_listener;
  }
  pthread_mutex_unlock(&t->lock);
  if (id < 0) free(added);
  return id;
}

PUBLIC int tureen_unlisten(tureen *t, int64_t listener) {
  if (t == NULL) return TUREEN_MISUSE;
  event_listener *found = NULL;
  pthread_mutex_lock(&t->lock);
  int is_open = !t->is_closed;
  event_listener **place = &t->listeners;
  while (*place != NULL && (*place)->id != listener) place = &(*place)->next;
  if (is_open && *place != NULL) {
    found = *place;
    *place = found->next;
  }
  pthread_mutex_unlock(&t->lock);
  free(found);
  return is_open ? TUREEN_OK : TUREEN_CLOSED;
}

PUBLIC const char *tureen_version(void) { return TUREEN_VERSION; }

PUBLIC const char *tureen_status_text(int64_t status) {
  switch (status) {
    case TUREEN_MISUSE: return "an argument is wrong, or the function must not be called here";
    case TUREEN_CLOSED: return "the host is closed";
    case TUREEN_NO_MEMORY: return "no memory";
    case TUREEN_REFUSED: return "the host refused";
    case TUREEN_SYSTEM: return "the system refused";
    case TUREEN_NOT_OPEN: return "the call is not open";
    default: return status >= 0 ? "ok" : "unknown status";
  }
}

PUBLIC void tureen_text_free(char *text) { free(text); }
