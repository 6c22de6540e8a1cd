/* Messages on their way to a program's callbacks. The lock is never held while one runs. */
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

/* The listener of this event with the smallest id above `after`, copied to *found: 1, or 0 when there is none. */
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

/* Where the value of the member `sync` of an error object begins; NULL when it has none. The text is compact JSON. */
static const char *state_in(const char *json, const char *end) {
  static const char key[] = "\"sync\":";
  int depth = 0;
  for (const char *p = json; p < end; p++) {
    if (*p == '{' || *p == '[') depth++;
    if (*p == '}' || *p == ']') depth--;
    if (*p != '"') continue;
    if (depth == 1 && (size_t)(end - p) > sizeof key && memcmp(p, key, sizeof key - 1) == 0) return p + sizeof key - 1;
    for (p++; p < end && *p != '"'; p++)
      if (*p == '\\') p++;
  }
  return NULL;
}

/* The detail of a `sync` event: the state, and which store it belongs to. NULL without memory, or without a state: the answer
 * is told all the same, and the next event is another try. */
static char *event_detail(const tureen_bytes *store, const char *json, size_t length, int is_error) {
  const char *state = is_error ? state_in(json, json + length) : json;
  if (state == NULL || store->data == NULL) return NULL;
  /* Without the closing braces, the state's and that of the error around it. */
  size_t kept = (size_t)(json + length - state) - (is_error ? 2 : 1);
  char *detail = malloc(kept + store->length + 1);
  if (detail == NULL) return NULL;
  memcpy(detail, state, kept);
  memcpy(detail + kept, store->data, store->length);
  detail[kept + store->length] = 0;
  return detail;
}

/* Answers what the native side asks of scripts: there is none here. */
static void refuse_request(tureen *t, int64_t number) {
  char arguments[160];
  int length = snprintf(arguments, sizeof arguments,
                        "{\"request\":%lld,\"error\":\"there is no script here: custom targets need Lua\"}",
                        (long long)number);
  static const char service[] = "tureen.script", action[] = "answer";
  tureen_request request = {.service = service,
                            .service_length = sizeof service - 1,
                            .action = action,
                            .action_length = sizeof action - 1,
                            .arguments = arguments,
                            .arguments_length = (size_t)length};
  tureen_bytes refusal = {NULL, 0};
  pthread_mutex_lock(&t->lock);
  if (!t->is_closed) t->host.call(t->host.context, &request, &refusal);
  pthread_mutex_unlock(&t->lock);
  free(refusal.data);
}

/* What a message means to whom. */
typedef struct delivery {
  tureen_on_answer answer;
  void *user;
  char *detail; /* of the event that follows; NULL when there is none, or nobody listens */
} delivery;

/* Looks up whom a message concerns, and takes the call out when the message ends it: 1, or 0 when nobody knows it. */
static int find(tureen *t, const tureen_message *message, const char *json, delivery *found) {
  int is_last = message->kind != TUREEN_UPDATE, is_fail = message->kind == TUREEN_FAIL;
  pthread_mutex_lock(&t->lock);
  pending_call *call = is_last ? tureen_calls_remove(&t->calls, message->call)
                               : tureen_calls_find(&t->calls, message->call);
  if (call != NULL) {
    int is_news = call->is_sync && t->listeners != NULL && json != NULL &&
                  (message->kind == TUREEN_UPDATE || message->kind == TUREEN_END || is_fail);
    *found = (delivery){call->answer, call->user, NULL};
    if (is_news) found->detail = event_detail(&call->store, json, message->payload.length, is_fail);
    if (is_last) tureen_call_free(call);
  }
  pthread_mutex_unlock(&t->lock);
  return call != NULL;
}

void tureen_deliver(tureen *t, tureen_message *message) {
  if (message->kind == TUREEN_REQUEST) {
    free(message->payload.data);
    refuse_request(t, message->call);
    return;
  }
  char *text = message->payload.length == 0 ? NULL : tureen_text_of(&message->payload);
  if (message->payload.data != NULL) free(message->payload.data);
  int is_error = message->kind == TUREEN_ERROR || message->kind == TUREEN_FAIL || text == NULL;
  int kind = message->kind == TUREEN_UPDATE ? TUREEN_ANSWER_PROGRESS : is_error ? TUREEN_ANSWER_ERROR : TUREEN_ANSWER_RESULT;
  const char *json = text == NULL ? unusable : text;
  size_t length = text == NULL ? sizeof unusable - 1 : message->payload.length;
  delivery to;
  if (find(t, message, text, &to)) {
    /* Without memory an update is left out: the next one tells more. */
    if (to.answer != NULL && (text != NULL || kind != TUREEN_ANSWER_PROGRESS))
      to.answer(t, message->call, kind, json, length, to.user);
    if (to.detail != NULL) emit(t, "sync", to.detail, strlen(to.detail));
    free(to.detail);
  }
  free(text);
}

void tureen_answer_all_closed(tureen *t) {
  for (;;) {
    pthread_mutex_lock(&t->lock);
    pending_call *call = tureen_calls_remove_any(&t->calls);
    pthread_mutex_unlock(&t->lock);
    if (call == NULL) return;
    if (call->answer != NULL)
      call->answer(t, call->id, TUREEN_ANSWER_ERROR, closed, sizeof closed - 1, call->user);
    tureen_call_free(call);
  }
}
