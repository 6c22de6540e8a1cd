/* Plug-ins of a program: calls, answers in every order, progress, cancellation, threads, events, the end of the host.
 * Usage: plugin HOME */
#include <pthread.h>
#include <tureen.h>
#include <unistd.h>

#include "check.h"

static const char *home;

/* How a call ended, and what it told before. */
typedef struct ending {
  int count, progress, kind;
  char json[512];
} ending;

static void on_answer(tureen *t, int64_t call, int kind, const char *json, size_t length, void *user) {
  (void)t, (void)call;
  ending *e = user;
  CHECK(strlen(json) == length);
  if (kind == TUREEN_ANSWER_PROGRESS) {
    e->progress++;
  } else {
    e->count++;
    e->kind = kind;
  }
  snprintf(e->json, sizeof e->json, "%s", json);
}

/* What a plug-in has got; it answers at once when `reply` is set. */
typedef struct inbox {
  int calls, cancels;
  int64_t last;
  char action[64], arguments[256];
  const char *reply;
} inbox;

static void on_call(tureen *t, int64_t call, const char *action, const char *arguments, size_t length, void *user) {
  inbox *box = user;
  CHECK(strlen(arguments) == length);
  box->calls++;
  box->last = call;
  snprintf(box->action, sizeof box->action, "%s", action);
  snprintf(box->arguments, sizeof box->arguments, "%s", arguments);
  if (box->reply != NULL)
    CHECK(tureen_answer(t, call, TUREEN_ANSWER_RESULT, box->reply, strlen(box->reply)) == TUREEN_OK);
}

static void on_cancel(tureen *t, int64_t call, void *user) {
  inbox *box = user;
  box->cancels++;
  CHECK(call == box->last);
  static const char stopped[] = "{\"code\":\"stopped\",\"message\":\"stopped at page 2\"}";
  CHECK(tureen_answer(t, call, TUREEN_ANSWER_ERROR, stopped, sizeof stopped - 1) == TUREEN_OK);
}

static tureen *open_host(void) {
  char options[1024];
  snprintf(options, sizeof options, "{\"home\": \"%s\"}", home);
  tureen *t;
  CHECK(tureen_open(options, &t, NULL) == TUREEN_OK);
  return t;
}

/* A host with the plug-in com.acme.x, which notes its calls in `box`. */
static tureen *open_with_plugin(inbox *box) {
  tureen *t = open_host();
  CHECK(tureen_register(t, "com.acme.x", NULL, on_call, NULL, box, NULL) == TUREEN_OK);
  return t;
}

static int answer(tureen *t, int64_t call, int kind, const char *json) {
  return tureen_answer(t, call, kind, json, strlen(json));
}

static int64_t call(tureen *t, const char *service, const char *action, const char *arguments, ending *e) {
  *e = (ending){0};
  int64_t id = tureen_exec(t, service, action, arguments, on_answer, e, NULL);
  CHECK(id > 0);
  return id;
}

static void wait_for(tureen *t, const ending *e) {
  while (e->count == 0) CHECK(tureen_poll(t, -1) >= 0);
}

static void drain(tureen *t) {
  while (tureen_poll(t, 0) > 0) continue;
}

static void calls_are_answered_and_checked(void) {
  tureen *t = open_host();
  inbox box = {.reply = "{\"pages\":2}"};
  static const char spec[] =
      "{\"actions\": {\"print\": {\"arguments\": {\"pages\": {\"type\": \"integer\", \"required\": true}}}}}";
  CHECK(tureen_register(t, "com.acme.printer", spec, on_call, NULL, &box, NULL) == TUREEN_OK);
  ending e;
  call(t, "com.acme.printer", "print", "{ \"pages\": 2.0 }", &e);
  CHECK(box.calls == 0); /* never inside tureen_exec */
  wait_for(t, &e);
  CHECK(e.kind == TUREEN_ANSWER_RESULT && strcmp(e.json, "{\"pages\":2}") == 0);
  CHECK(box.calls == 1 && strcmp(box.action, "print") == 0 && strcmp(box.arguments, "{\"pages\":2}") == 0);

  static const char *const wrong[][3] = {{"print", "{}", "invalidArguments"},
                                         {"print", "{\"pages\": \"x\"}", "invalidArguments"},
                                         {"print", "{\"pages\": 1, \"page\": 1}", "invalidArguments"},
                                         {"print", "[", "invalidArguments"},
                                         {"prnt", "{\"pages\": 1}", "unknownAction"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    call(t, "com.acme.printer", wrong[i][0], wrong[i][1], &e);
    wait_for(t, &e);
    CHECK(e.kind == TUREEN_ANSWER_ERROR && strstr(e.json, wrong[i][2]) != NULL);
  }
  CHECK(box.calls == 1);
  call(t, "com.salesforce.sdkinfo", "getInfo", NULL, &e);
  wait_for(t, &e);
  CHECK(strstr(e.json, "\"com.acme.printer\"") != NULL);
  tureen_free(t);
}

static void registrations_that_are_wrong(void) {
  tureen *t = open_host();
  inbox box = {0};
  char *error;
  CHECK(tureen_register(NULL, "com.acme.x", NULL, on_call, NULL, NULL, NULL) == TUREEN_MISUSE);
  CHECK(tureen_register(t, NULL, NULL, on_call, NULL, NULL, NULL) == TUREEN_MISUSE);
  CHECK(tureen_register(t, "com.acme.x", NULL, NULL, NULL, NULL, NULL) == TUREEN_MISUSE);
  static const char *const names[] = {"", "printer", "com.salesforce.smartstore", "tureen.keyvalue", "com..acme", "com.ac me"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    CHECK(tureen_register(t, names[i], NULL, on_call, NULL, &box, &error) == TUREEN_REFUSED);
    CHECK(error != NULL && strstr(error, "invalidArguments") != NULL);
    tureen_text_free(error);
  }
  CHECK(tureen_register(t, "com.acme.x", "{\"actions\": 1}", on_call, NULL, &box, &error) == TUREEN_REFUSED);
  CHECK(strstr(error, "spec.actions must be an object") != NULL);
  tureen_text_free(error);
  CHECK(tureen_register(t, "com.acme.x", "{", on_call, NULL, &box, NULL) == TUREEN_REFUSED);
  CHECK(tureen_register(t, "com.acme.x", NULL, on_call, NULL, &box, &error) == TUREEN_OK && error == NULL);
  CHECK(tureen_register(t, "com.acme.x", NULL, on_call, NULL, &box, NULL) == TUREEN_REFUSED);
  CHECK(tureen_unregister(t, "com.acme.unknown") == TUREEN_OK && tureen_unregister(t, NULL) == TUREEN_MISUSE);
  CHECK(tureen_unregister(t, "com.acme.x") == TUREEN_OK);
  CHECK(tureen_register(t, "com.acme.x", NULL, on_call, NULL, &box, NULL) == TUREEN_OK);
  tureen_close(t);
  CHECK(tureen_register(t, "com.acme.y", NULL, on_call, NULL, &box, NULL) == TUREEN_CLOSED);
  CHECK(tureen_unregister(t, "com.acme.x") == TUREEN_CLOSED && answer(t, 1, TUREEN_ANSWER_RESULT, "1") == TUREEN_CLOSED);
  CHECK(tureen_emit(t, "com.acme.x", NULL, 0) == TUREEN_CLOSED);
  tureen_free(t);
}

/* A plug-in that asks another one, and passes its answer on. */
static void on_inner(tureen *t, int64_t inner, int kind, const char *json, size_t length, void *user) {
  (void)inner;
  CHECK(tureen_answer(t, *(int64_t *)user, kind, json, length) == TUREEN_OK);
  free(user);
}

static void on_outer(tureen *t, int64_t outer, const char *action, const char *arguments, size_t length, void *user) {
  (void)length, (void)user;
  int64_t *kept = malloc(sizeof *kept);
  CHECK(kept != NULL);
  *kept = outer;
  CHECK(tureen_exec(t, "com.acme.inner", action, arguments, on_inner, kept, NULL) > 0);
}

static void plugin_calls_another_plugin(void) {
  tureen *t = open_host();
  inbox box = {.reply = "\"from inside\""};
  CHECK(tureen_register(t, "com.acme.outer", NULL, on_outer, NULL, NULL, NULL) == TUREEN_OK);
  CHECK(tureen_register(t, "com.acme.inner", NULL, on_call, NULL, &box, NULL) == TUREEN_OK);
  ending e;
  call(t, "com.acme.outer", "ask", "{\"a\":[]}", &e);
  wait_for(t, &e);
  CHECK(strcmp(e.json, "\"from inside\"") == 0 && strcmp(box.arguments, "{\"a\":[]}") == 0);
  CHECK(tureen_pending(t) == 0);
  tureen_free(t);
}

static void answers_out_of_order(void) {
  inbox box = {0};
  tureen *t = open_with_plugin(&box);
  ending e, other;
  int64_t id = call(t, "com.acme.x", "a", NULL, &e);
  drain(t);
  CHECK(box.calls == 1 && box.last == id && tureen_pending(t) == 1);
  /* What is wrong leaves the call open. */
  CHECK(answer(t, id, TUREEN_ANSWER_RESULT, "{") == TUREEN_MISUSE && answer(t, id, 7, "1") == TUREEN_MISUSE);
  CHECK(answer(t, id, TUREEN_ANSWER_ERROR, "\"text\"") == TUREEN_MISUSE);
  CHECK(tureen_answer(t, id, TUREEN_ANSWER_RESULT, NULL, 0) == TUREEN_MISUSE);
  CHECK(answer(t, id, TUREEN_ANSWER_PROGRESS, "1") == TUREEN_OK && answer(t, id, TUREEN_ANSWER_PROGRESS, "2") == TUREEN_OK);
  drain(t);
  CHECK(e.progress == 1 && strcmp(e.json, "2") == 0 && e.count == 0);
  CHECK(answer(t, id, TUREEN_ANSWER_PROGRESS, "3") == TUREEN_OK);
  CHECK(answer(t, id, TUREEN_ANSWER_ERROR, "{\"message\":\"jammed\"}") == TUREEN_OK);
  CHECK(answer(t, id, TUREEN_ANSWER_RESULT, "1") == TUREEN_NOT_OPEN); /* twice */
  wait_for(t, &e);
  CHECK(e.progress == 2 && e.kind == TUREEN_ANSWER_ERROR && strstr(e.json, "\"domain\":\"com.acme.x\"") != NULL);
  CHECK(strstr(e.json, "\"code\":\"failed\"") != NULL && strstr(e.json, "jammed") != NULL);
  CHECK(answer(t, id, TUREEN_ANSWER_PROGRESS, "4") == TUREEN_NOT_OPEN); /* late */
  CHECK(answer(t, 999, TUREEN_ANSWER_RESULT, "1") == TUREEN_NOT_OPEN);  /* never made */
  int64_t ours = call(t, "com.salesforce.sdkinfo", "getInfo", NULL, &other);
  CHECK(answer(t, ours, TUREEN_ANSWER_RESULT, "1") == TUREEN_NOT_OPEN); /* not a plug-in's */
  wait_for(t, &other);
  CHECK(strstr(other.json, "sdkVersion") != NULL);
  drain(t);
  CHECK(e.count == 1 && tureen_pending(t) == 0);
  tureen_free(t);
}

static void cancellation_reaches_the_plugin(void) {
  tureen *t = open_host();
  inbox hears = {0}, deaf = {0};
  CHECK(tureen_register(t, "com.acme.hears", NULL, on_call, on_cancel, &hears, NULL) == TUREEN_OK);
  CHECK(tureen_register(t, "com.acme.deaf", NULL, on_call, NULL, &deaf, NULL) == TUREEN_OK);
  ending e;
  int64_t id = call(t, "com.acme.hears", "a", NULL, &e);
  drain(t);
  CHECK(tureen_cancel(t, id) == TUREEN_OK && tureen_cancel(t, id) == TUREEN_OK);
  wait_for(t, &e);
  CHECK(hears.cancels == 1 && e.kind == TUREEN_ANSWER_ERROR && strstr(e.json, "stopped at page 2") != NULL);
  id = call(t, "com.acme.deaf", "a", NULL, &e);
  drain(t);
  CHECK(tureen_cancel(t, id) == TUREEN_OK);
  wait_for(t, &e);
  CHECK(deaf.calls == 1 && strstr(e.json, "\"cancelled\"") != NULL);
  CHECK(answer(t, id, TUREEN_ANSWER_RESULT, "1") == TUREEN_NOT_OPEN);
  tureen_free(t);
}

static void unregistered_plugins_answer_what_they_have(void) {
  inbox box = {0};
  tureen *t = open_with_plugin(&box);
  ending got, missed;
  int64_t id = call(t, "com.acme.x", "a", NULL, &got);
  drain(t);
  call(t, "com.acme.x", "b", NULL, &missed);
  CHECK(tureen_unregister(t, "com.acme.x") == TUREEN_OK);
  wait_for(t, &missed);
  CHECK(strstr(missed.json, "unknownService") != NULL && box.calls == 1);
  CHECK(answer(t, id, TUREEN_ANSWER_RESULT, "\"kept\"") == TUREEN_OK);
  wait_for(t, &got);
  CHECK(strcmp(got.json, "\"kept\"") == 0);
  tureen_free(t);
}

typedef struct work {
  tureen *t;
  int64_t first;
  int count;
} work;

static void *answer_all(void *user) {
  work *w = user;
  for (int i = 0; i < w->count; i++)
    CHECK(answer(w->t, w->first + i, TUREEN_ANSWER_RESULT, "true") == TUREEN_OK &&
          tureen_emit(w->t, "com.acme.x.done", "{\"a\": 1}", 8) == TUREEN_OK);
  return NULL;
}

static void on_done(tureen *t, const char *event, const char *json, size_t length, void *user) {
  (void)t;
  CHECK(strcmp(event, "com.acme.x.done") == 0 && strcmp(json, "{\"a\":1}") == 0 && length == 7);
  ++*(int *)user;
}

static void answers_and_events_come_from_any_thread(void) {
  enum { COUNT = 200 };
  tureen *t = open_host();
  inbox box = {0};
  int heard = 0;
  static ending endings[COUNT];
  CHECK(tureen_register(t, "com.acme.x", NULL, on_call, NULL, &box, NULL) == TUREEN_OK);
  CHECK(tureen_listen(t, "com.acme.x.done", on_done, &heard) > 0);
  CHECK(tureen_emit(t, "sync", NULL, 0) == TUREEN_MISUSE && tureen_emit(t, "com.acme.x", "{", 1) == TUREEN_MISUSE);
  CHECK(tureen_emit(t, "tureen.x", NULL, 0) == TUREEN_MISUSE && tureen_emit(t, NULL, NULL, 0) == TUREEN_MISUSE);
  int64_t first = call(t, "com.acme.x", "a", NULL, &endings[0]);
  for (int i = 1; i < COUNT; i++) CHECK(call(t, "com.acme.x", "a", NULL, &endings[i]) == first + i);
  drain(t);
  work halves[2] = {{t, first, COUNT / 2}, {t, first + COUNT / 2, COUNT / 2}};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, answer_all, &halves[i]) == 0);
  while (tureen_pending(t) > 0 || heard < COUNT) CHECK(tureen_poll(t, -1) >= 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < COUNT; i++) CHECK(endings[i].count == 1 && strcmp(endings[i].json, "true") == 0);
  tureen_free(t);
}

static void close_names_the_plugin_that_never_answers(void) {
  tureen *t = open_host();
  inbox box = {0};
  CHECK(tureen_register(t, "com.acme.silent", NULL, on_call, on_cancel, &box, NULL) == TUREEN_OK);
  ending e, odd;
  int64_t id = call(t, "com.acme.silent", "print", NULL, &e);
  call(t, "com.acme.silent", "a \"quoted\" one", NULL, &odd);
  drain(t);
  CHECK(tureen_close(t) == TUREEN_OK && box.cancels == 0);
  CHECK(e.count == 1 && e.kind == TUREEN_ANSWER_ERROR && strstr(e.json, "\"code\":\"closed\"") != NULL);
  CHECK(strstr(e.json, "the host was closed before plug-in 'com.acme.silent' answered 'print'") != NULL);
  CHECK(odd.count == 1 && strstr(odd.json, "\"code\":\"closed\"") != NULL && strstr(odd.json, "quoted") == NULL);
  CHECK(answer(t, id, TUREEN_ANSWER_RESULT, "1") == TUREEN_CLOSED);
  tureen_free(t);
}

static long resident_pages(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  long size, resident;
  CHECK(file != NULL && fscanf(file, "%ld %ld", &size, &resident) == 2);
  fclose(file);
  return resident;
}

static void many_calls_leave_memory_flat(void) {
  enum { WINDOW = 100, ROUNDS = 1000 };
  inbox box = {.reply = "{\"pages\":2}"};
  tureen *t = open_with_plugin(&box);
  static ending endings[WINDOW];
  long before = 0;
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < WINDOW; i++) call(t, "com.acme.x", "a", "{\"text\":\"some text\"}", &endings[i]);
    while (tureen_pending(t) > 0) CHECK(tureen_poll(t, -1) >= 0);
    if (round == ROUNDS / 10) before = resident_pages();
  }
  CHECK(box.calls == WINDOW * ROUNDS);
  CHECK((resident_pages() - before) * sysconf(_SC_PAGESIZE) < 4 << 20);
  tureen_free(t);
}

int main(int count, char **arguments) {
  CHECK(count == 2);
  home = arguments[1];
  calls_are_answered_and_checked();
  registrations_that_are_wrong();
  plugin_calls_another_plugin();
  answers_out_of_order();
  cancellation_reaches_the_plugin();
  unregistered_plugins_answer_what_they_have();
  answers_and_events_come_from_any_thread();
  close_names_the_plugin_that_never_answers();
  many_calls_leave_memory_flat();
  CHECK(signals_are_untouched());
  puts("done");
  return 0;
}
