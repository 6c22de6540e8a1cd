/* Plug-ins: services that the program implements. Their functions are called without the lock. */
#include <stdlib.h>
#include <string.h>

#include "embedding.h"

#define PUBLIC __attribute__((visibility("default")))

static void hand_over(tureen_bytes *refusal, char **error) {
  if (error != NULL && refusal->data != NULL) *error = tureen_text_of(refusal);
  else free(refusal->data);
}

int tureen_has_plugin(const tureen *t, const char *service) {
  for (const plugin *each = t->plugins; each != NULL; each = each->next)
    if (strcmp(each->service, service) == 0) return 1;
  return 0;
}

const plugin *tureen_plugin(const tureen *t, int64_t number) {
  const plugin *each = t->plugins;
  while (each != NULL && each->number != number) each = each->next;
  return each;
}

PUBLIC int tureen_register(tureen *t, const char *service, const char *spec, tureen_on_call on_call,
                           tureen_on_cancel on_cancel, void *user, char **error) {
  if (error != NULL) *error = NULL;
  if (t == NULL || service == NULL || on_call == NULL) return TUREEN_MISUSE;
  size_t size = strlen(service) + 1;
  plugin *added = malloc(sizeof *added + size);
  if (added == NULL) return TUREEN_NO_MEMORY;
  added->on_call = on_call;
  added->on_cancel = on_cancel;
  added->user = user;
  memcpy(added->service, service, size);
  tureen_bytes refusal = {NULL, 0};
  int status = TUREEN_OK;
  pthread_mutex_lock(&t->lock);
  if (t->is_closed) status = TUREEN_CLOSED;
  else {
    added->number = t->host.register_plugin(t->host.context, service, spec, on_cancel != NULL, &refusal);
    if (added->number <= 0) status = TUREEN_REFUSED;
  }
  if (status == TUREEN_OK) {
    added->next = t->plugins;
    t->plugins = added;
  }
  pthread_mutex_unlock(&t->lock);
  if (status != TUREEN_OK) free(added);
  hand_over(&refusal, error);
  return status;
}

PUBLIC int tureen_unregister(tureen *t, const char *service) {
  if (t == NULL || service == NULL) return TUREEN_MISUSE;
  plugin *found = NULL;
  pthread_mutex_lock(&t->lock);
  int is_open = !t->is_closed;
  plugin **place = &t->plugins;
  while (*place != NULL && strcmp((*place)->service, service) != 0) place = &(*place)->next;
  if (is_open && *place != NULL) {
    found = *place;
    *place = found->next;
    t->host.unregister_plugin(t->host.context, found->number);
  }
  pthread_mutex_unlock(&t->lock);
  free(found);
  return is_open ? TUREEN_OK : TUREEN_CLOSED;
}

PUBLIC int tureen_answer(tureen *t, int64_t call, int kind, const char *json, size_t length) {
  if (t == NULL || json == NULL) return TUREEN_MISUSE;
  pthread_mutex_lock(&t->lock);
  int status = t->is_closed ? TUREEN_CLOSED : t->host.answer(t->host.context, call, kind, json, length, 0);
  pthread_mutex_unlock(&t->lock);
  return status;
}

PUBLIC int tureen_emit(tureen *t, const char *event, const char *json, size_t length) {
  if (t == NULL || event == NULL) return TUREEN_MISUSE;
  static const char null[] = "null";
  if (json == NULL) {
    json = null;
    length = sizeof null - 1;
  }
  pthread_mutex_lock(&t->lock);
  int status = t->is_closed ? TUREEN_CLOSED : t->host.emit(t->host.context, event, json, length);
  pthread_mutex_unlock(&t->lock);
  return status;
}

/* The functions of a plug-in, copied to call them without the lock. */
typedef struct receiver {
  tureen_on_call on_call;
  tureen_on_cancel on_cancel;
  void *user;
} receiver;

/* Finds the functions of the plug-in with this number. Returns 1, or 0 if it is no longer registered. */
static int find(tureen *t, int64_t number, receiver *found) {
  pthread_mutex_lock(&t->lock);
  const plugin *known = tureen_plugin(t, number);
  if (known != NULL) *found = (receiver){known->on_call, known->on_cancel, known->user};
  pthread_mutex_unlock(&t->lock);
  return known != NULL;
}

static const char unregistered[] =
    "{\"domain\":\"bridge\",\"code\":\"unknownService\",\"message\":\"the plug-in was unregistered before it got the call\"}";
static const char no_memory[] =
    "{\"domain\":\"bridge\",\"code\":\"internal\",\"message\":\"no memory for the call\",\"retryable\":true}";

void tureen_deliver_call(tureen *t, tureen_message *message) {
  receiver to;
  int is_call = message->kind == TUREEN_CALL, is_known = find(t, message->plugin, &to);
  size_t head = message->action_length + 1, length = message->payload.length;
  char *text = is_call && length > head ? tureen_text_of(&message->payload) : NULL;
  if (message->payload.data != NULL) free(message->payload.data);
  if (!is_call) {
    if (is_known && to.on_cancel != NULL) to.on_cancel(t, message->call, to.user);
  } else if (!is_known) {
    tureen_answer(t, message->call, TUREEN_ANSWER_ERROR, unregistered, sizeof unregistered - 1);
  } else if (text == NULL) {
    tureen_answer(t, message->call, TUREEN_ANSWER_ERROR, no_memory, sizeof no_memory - 1);
  } else {
    to.on_call(t, message->call, text, text + head, length - head, to.user);
  }
  free(text);
}
