/* Requests of the engine that the program serves: custom targets, transformations and conflict resolvers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedding.h"

#define PUBLIC __attribute__((visibility("default")))

PUBLIC int tureen_serve(tureen *t, tureen_on_request on_request, void *user) {
  if (t == NULL || t->is_attached) return TUREEN_MISUSE;
  pthread_mutex_lock(&t->lock);
  int status = t->is_closed ? TUREEN_CLOSED : TUREEN_OK;
  if (status == TUREEN_OK) {
    t->on_request = on_request;
    t->request_user = user;
  }
  pthread_mutex_unlock(&t->lock);
  return status;
}

/* Passes the members of an object to the engine as the answer to a request. */
static int answer(tureen *t, int64_t number, const char *json, size_t length) {
  size_t size = length + 40;
  char *arguments = malloc(size);
  if (arguments == NULL) return TUREEN_NO_MEMORY;
  int is_empty = length == 2;
  int head = snprintf(arguments, size, "{\"request\":%lld%s", (long long)number, is_empty ? "" : ",");
  memcpy(arguments + head, json + 1, length - 1);
  static const char service[] = "tureen.script", action[] = "answer";
  tureen_request request = {.service = service,
                            .service_length = sizeof service - 1,
                            .action = action,
                            .action_length = sizeof action - 1,
                            .arguments = arguments,
                            .arguments_length = (size_t)head + length - 1};
  tureen_bytes refusal = {NULL, 0};
  pthread_mutex_lock(&t->lock);
  int is_taken = !t->is_closed && t->host.call(t->host.context, &request, &refusal) > 0;
  int status = t->is_closed ? TUREEN_CLOSED : is_taken ? TUREEN_OK : TUREEN_REFUSED;
  pthread_mutex_unlock(&t->lock);
  free(refusal.data);
  free(arguments);
  return status;
}

PUBLIC int tureen_answer_request(tureen *t, int64_t request, const char *json, size_t length) {
  if (t == NULL || json == NULL || length < 2 || json[0] != '{' || json[length - 1] != '}') return TUREEN_MISUSE;
  return answer(t, request, json, length);
}

void tureen_deliver_request(tureen *t, tureen_message *message) {
  static const char unserved[] = "{\"noScript\":true}";
  pthread_mutex_lock(&t->lock);
  tureen_on_request on_request = t->on_request;
  void *user = t->request_user;
  pthread_mutex_unlock(&t->lock);
  size_t length = message->payload.length;
  char *text = on_request == NULL ? NULL : tureen_text_of(&message->payload);
  if (message->payload.data != NULL) free(message->payload.data);
  if (text == NULL) answer(t, message->call, unserved, sizeof unserved - 1);
  else on_request(t, message->call, text, length, user);
  free(text);
}
