/* Delivers messages to a program's callbacks. The lock is never held while a callback runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedding.h"

char *tureen_text_of(tureen_bytes *bytes) {
  char *text = realloc(bytes->data, bytes->length + 1);
  if (text == NULL) free(bytes->data);
  else text[bytes->length] = 0;
  bytes->data = NULL;
  return text;
}

static const char unusable[] =
    "{\"domain\":\"bridge\",\"code\":\"internal\",\"message\":\"no memory for the answer\",\"retryable\":true}";
static const char closed[] =
    "{\"domain\":\"bridge\",\"code\":\"closed\",\"message\":\"the host was closed before the call was answered\","
    "\"retryable\":false}";
static const char closed_plugin[] =
    "{\"domain\":\"bridge\",\"code\":\"closed\",\"message\":\"the host was closed before plug-in '%s' answered '%s'\","
    "\"retryable\":false}";

/* Copies the listener of this event with the smallest id above `after` to *found. Returns 1, or 0 if there is none. */
static int next_listener(tureen *t, const char *event, int64_t after, int64_t last, event_listener *found) {
  int is_found = 0;
  pthread_mutex_lock(&t->lock);
  for (event_listener *each = t->listeners; each != NULL && !is_found; each = each->next) {
    if (each->id <= after || each->id > last || strcmp(each->event, event) != 0) continue;
    memcpy(found, each, sizeof *found);
    is_found = 1;
  }
  pthread_mutex_unlock(&t->lock);
  return is_found;
}

static void emit(tureen *t, const char *event, const char *json, size_t length) {
  event_listener each;
  pthread_mutex_lock(&t->lock);
  int64_t last = t->last_listener, after = 0;
  pthread_mutex_unlock(&t->lock);
  for (; next_listener(t, event, after, last, &each); after = each.id) each.listener(t, event, json, length, each.user);
}

/* Returns the position after the string that begins at p. */
static const char *behind_string(const char *p, const char *end) {
  for (p++; p < end && *p != '"'; p++)
    if (*p == '\\') p++;
  return p + 1;
}

/* Returns the position after the value that begins at p. The text must be compact JSON. */
static const char *behind_value(const char *p, const char *end) {
  int depth = 0;
  for (; p < end; p++) {
    if (depth == 0 && (*p == ',' || *p == '}')) return p;
    if (*p == '{' || *p == '[') depth++;
    if (*p == '}' || *p == ']') depth--;
    if (*p == '"') p = behind_string(p, end) - 1;
  }
  return end;
}

/* Returns the value of a member of the object `json`, and sets *length; NULL if it has no such member. */
static const char *member_of(const char *json, const char *end, const char *name, size_t *length) {
  size_t name_length = strlen(name);
  for (const char *p = json + 1; p < end && *p == '"';) {
    const char *key_end = behind_string(p, end), *value = key_end + 1; /* after the colon */
    if (value >= end) return NULL;
    const char *value_end = behind_value(value, end);
    if ((size_t)(key_end - p) == name_length + 2 && memcmp(p + 1, name, name_length) == 0) {
      *length = (size_t)(value_end - value);
      return value;
    }
    p = value_end + 1;
  }
  return NULL;
}

/* Returns the detail of a `sync` event: the state and its store. Returns NULL without memory or without a state; the answer is
 * still delivered then, only the event is skipped. */
static char *event_detail(const tureen_bytes *store, const char *json, size_t length, int is_error) {
  const char *state = is_error ? member_of(json, json + length, "sync", &length) : json;
  if (state == NULL || length < 2 || store->data == NULL) return NULL;
  char *detail = malloc(length + store->length);
  if (detail == NULL) return NULL;
  memcpy(detail, state, length - 1); /* without its closing brace; the store's members bring one */
  memcpy(detail + length - 1, store->data, store->length);
  detail[length - 1 + store->length] = 0;
  return detail;
}

/* Returns 1 if an event changes the state of its pair. The initial states are online and not paused. */
static int is_change(tureen *t, const char *event) {
  int *state = strcmp(event, "online") == 0 || strcmp(event, "offline") == 0 ? &t->is_offline
               : strcmp(event, "pause") == 0 || strcmp(event, "resume") == 0 ? &t->is_paused
                                                                             : NULL;
  if (state == NULL) return 1;
  int now = strcmp(event, "offline") == 0 || strcmp(event, "pause") == 0;
  int is_new = *state != now;
  *state = now;
  return is_new;
}

void tureen_deliver_event(tureen *t, const char *json, size_t length) {
  size_t name_length, detail_length;
  const char *end = json + length, *name = member_of(json, end, "event", &name_length);
  const char *detail = member_of(json, end, "detail", &detail_length);
  char *event = name == NULL || name_length < 2 ? NULL : strndup(name + 1, name_length - 2);
  char *text = detail == NULL ? NULL : strndup(detail, detail_length);
  if (event != NULL && text != NULL && is_change(t, event)) emit(t, event, text, detail_length);
  free(event);
  free(text);
}

/* Delivers an event of the host. If it has a request number, the host is notified after the listeners have run. */
static void deliver_host_event(tureen *t, const char *json, size_t length) {
  size_t number_length;
  const char *number = member_of(json, json + length, "request", &number_length);
  long long request = number == NULL ? 0 : strtoll(number, NULL, 10);
  tureen_deliver_event(t, json, length);
  if (number != NULL) tureen_answer_request(t, request, "{}", 2);
}

/* The recipients of a message. */
typedef struct delivery {
  tureen_on_answer answer;
  void *user;
  char *detail; /* of the event that follows; NULL when there is none, or no listener */
  pending_call *unheard; /* a call that has failed and has no callback; to be freed */
} delivery;

/* Reports the failure of a call without a callback as an `uncaughtError` event, like that of a script's call. Frees the call. */
static void tell_uncaught(tureen *t, pending_call *call, const char *json, size_t length) {
  tureen_bytes detail = {NULL, 0};
  tureen_embedded_uncaught(call->service, call->action, json, length, &detail);
  tureen_call_free(call);
  size_t detail_length = detail.length;
  char *text = detail.data == NULL ? NULL : tureen_text_of(&detail);
  if (text != NULL) emit(t, "uncaughtError", text, detail_length);
  free(text);
}

/* Finds the recipients of a message, and removes the call if the message ends it. Returns 1, or 0 for an unknown call. */
static int find(tureen *t, const tureen_message *message, const char *json, int is_error, delivery *found) {
  int is_last = message->kind != TUREEN_UPDATE && message->kind != TUREEN_PROGRESS, is_fail = message->kind == TUREEN_FAIL;
  pthread_mutex_lock(&t->lock);
  pending_call *call = is_last ? tureen_calls_remove(&t->calls, message->call)
                               : tureen_calls_find(&t->calls, message->call);
  if (call != NULL) {
    int has_event = call->is_sync && t->listeners != NULL && json != NULL &&
                  (message->kind == TUREEN_UPDATE || message->kind == TUREEN_END || is_fail);
    *found = (delivery){call->answer, call->user, NULL, NULL};
    if (has_event) found->detail = event_detail(&call->store, json, message->payload.length, is_fail);
    if (is_last && is_error && call->answer == NULL && !call->is_given_up) found->unheard = call;
    else if (is_last) tureen_call_free(call);
  }
  pthread_mutex_unlock(&t->lock);
  return call != NULL;
}

void tureen_deliver(tureen *t, tureen_message *message) {
  if (message->kind == TUREEN_CALL || message->kind == TUREEN_CALL_OVER) {
    tureen_deliver_call(t, message);
    return;
  }
  if (message->kind == TUREEN_REQUEST) {
    tureen_deliver_request(t, message);
    return;
  }
  char *text = message->payload.length == 0 ? NULL : tureen_text_of(&message->payload);
  if (message->payload.data != NULL) free(message->payload.data);
  int is_error = message->kind == TUREEN_ERROR || message->kind == TUREEN_FAIL || text == NULL;
  int is_progress = message->kind == TUREEN_UPDATE || message->kind == TUREEN_PROGRESS;
  int kind = is_progress ? TUREEN_ANSWER_PROGRESS : is_error ? TUREEN_ANSWER_ERROR : TUREEN_ANSWER_RESULT;
  const char *json = text == NULL ? unusable : text;
  size_t length = text == NULL ? sizeof unusable - 1 : message->payload.length;
  if (message->kind == TUREEN_EVENT) {
    if (text != NULL) deliver_host_event(t, text, length);
    free(text);
    return;
  }
  delivery to;
  if (find(t, message, text, is_error, &to)) {
    /* Without memory an update is skipped, because a later one contains it. */
    if (to.answer != NULL && (text != NULL || kind != TUREEN_ANSWER_PROGRESS))
      to.answer(t, message->call, kind, json, length, to.user);
    if (to.unheard != NULL) tell_uncaught(t, to.unheard, json, length);
    if (to.detail != NULL) emit(t, "sync", to.detail, strlen(to.detail));
    free(to.detail);
  }
  free(text);
}

/* Returns 1 if a text needs no escapes in a JSON string. */
static int is_plain(const char *text) {
  for (; *text != 0; text++)
    if ((unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e || *text == '"' || *text == '\\') return 0;
  return 1;
}

/* Answers a call that is pending when the host closes. For a plug-in's call the message names the plug-in, whose name needs no
 * escapes. */
static void answer_closed(tureen *t, const pending_call *call) {
  char text[512];
  int length = 0;
  if (call->is_of_plugin && is_plain(call->action))
    length = snprintf(text, sizeof text, closed_plugin, call->service, call->action);
  int is_named = length > 0 && (size_t)length < sizeof text;
  call->answer(t, call->id, TUREEN_ANSWER_ERROR, is_named ? text : closed, is_named ? (size_t)length : sizeof closed - 1,
               call->user);
}

void tureen_answer_all_closed(tureen *t) {
  for (;;) {
    pthread_mutex_lock(&t->lock);
    pending_call *call = tureen_calls_remove_any(&t->calls);
    pthread_mutex_unlock(&t->lock);
    if (call == NULL) return;
    if (call->answer != NULL) answer_closed(t, call);
    tureen_call_free(call);
  }
}
