/* What handles do when they are used wrongly, and how they close. Usage: handles HOME */
#include <pthread.h>
#include <tureen.h>

#include "check.h"

static const char service[] = "com.salesforce.smartstore";
static const char exists[] = "{\"soupName\": \"people\"}";

/* How a call ended. */
typedef struct ending {
  int count, kind;
  char json[512];
} ending;

static void on_end(tureen *t, int64_t call, int kind, const char *json, size_t length, void *user) {
  (void)t, (void)call, (void)length;
  ending *e = user;
  if (kind == TUREEN_ANSWER_PROGRESS) return;
  e->count++;
  e->kind = kind;
  snprintf(e->json, sizeof e->json, "%s", json);
}

static void on_event(tureen *t, const char *event, const char *json, size_t length, void *user) {
  (void)t, (void)event, (void)json, (void)length, (void)user;
}

static tureen *open_at(const char *home, const char *name) {
  char options[1024];
  snprintf(options, sizeof options, "{\"home\": \"%s/%s\"}", home, name);
  tureen *t;
  CHECK(tureen_open(options, &t, NULL) == TUREEN_OK);
  return t;
}

static void wrong_arguments_are_errors(const char *home) {
  tureen *t = (tureen *)&t;
  char *error;
  CHECK(tureen_open("{}", NULL, &error) == TUREEN_MISUSE && error == NULL);
  CHECK(tureen_open("{\"hom\": 1}", &t, &error) == TUREEN_REFUSED && t == NULL);
  CHECK(strstr(error, "'hom'") && strstr(error, "\"code\":\"invalidConfiguration\""));
  tureen_text_free(error);
  CHECK(tureen_open("[1", &t, &error) == TUREEN_REFUSED && strstr(error, "not JSON"));
  tureen_text_free(error);
  CHECK(tureen_open("[1]", &t, NULL) == TUREEN_REFUSED);
  CHECK(tureen_poll(NULL, 0) == TUREEN_MISUSE && tureen_fd(NULL) == TUREEN_MISUSE && tureen_close(NULL) == TUREEN_MISUSE);
  CHECK(tureen_pending(NULL) == TUREEN_MISUSE && tureen_cancel(NULL, 1) == TUREEN_MISUSE);
  CHECK(tureen_exec(NULL, service, "pgSoupExists", exists, NULL, NULL, NULL) == TUREEN_MISUSE);
  tureen_free(NULL);
  tureen_text_free(NULL);

  t = open_at(home, "wrong");
  CHECK(tureen_exec(t, NULL, "pgSoupExists", exists, NULL, NULL, NULL) == TUREEN_MISUSE);
  CHECK(tureen_exec(t, service, NULL, exists, NULL, NULL, NULL) == TUREEN_MISUSE);
  CHECK(tureen_listen(t, "a.\xff", on_event, NULL) == TUREEN_MISUSE);
  CHECK(tureen_listen(t, "a.\xc3", on_event, NULL) == TUREEN_MISUSE);
  CHECK(tureen_listen(t, "", on_event, NULL) == TUREEN_MISUSE && tureen_listen(t, "sync", NULL, NULL) < 0);
  int64_t listener = tureen_listen(t, "sync", on_event, NULL);
  CHECK(listener > 0 && tureen_unlisten(t, listener) == TUREEN_OK);
  CHECK(tureen_cancel(t, 99) == TUREEN_OK && tureen_unlisten(t, 99) == TUREEN_OK);
  static const struct {
    const char *service, *action, *arguments, *code;
  } wrong[] = {{"no.such", "x", NULL, "unknownService"},
               {service, "pgFly", "{}", "unknownAction"},
               {service, "pgSoupExists", NULL, "invalidArguments"},
               {service, "pgSoupExists", "", "invalidArguments"},
               {service, "pgSoupExists", "{\"soupName\": 5}", "invalidArguments"},
               {service, "pgSoupExists", "[", "invalidArguments"},
               {service, "pgSoupExists", "{\"soupName\": \"\xff\"}", "invalidArguments"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ending e = {0};
    CHECK(tureen_exec(t, wrong[i].service, wrong[i].action, wrong[i].arguments, on_end, &e, NULL) > 0);
    while (tureen_pending(t) > 0) CHECK(tureen_poll(t, -1) >= 0);
    if (e.count != 1 || e.kind != TUREEN_ANSWER_ERROR || !strstr(e.json, wrong[i].code)) fprintf(stderr, "%zu: %s\n", i, e.json);
    CHECK(e.count == 1 && e.kind == TUREEN_ANSWER_ERROR && strstr(e.json, wrong[i].code));
  }
  tureen_free(t);
}

static void custom_targets_say_that_they_need_lua(const char *home) {
  tureen *t = open_at(home, "custom");
  ending e = {0};
  tureen_exec(t, service, "pgRegisterSoup",
              "{\"soupName\": \"people\", \"indexes\": [{\"path\": \"Id\", \"type\": \"string\"}]}", NULL, NULL, NULL);
  CHECK(tureen_exec(t, "com.salesforce.mobilesync", "syncDown",
                    "{\"soupName\": \"people\", \"target\": {\"type\": \"custom\", \"luaImpl\": \"x\"}, \"options\": {}}",
                    on_end, &e, NULL) > 0);
  while (tureen_pending(t) > 0) CHECK(tureen_poll(t, -1) >= 0);
  CHECK(e.count == 1 && e.kind == TUREEN_ANSWER_ERROR && strstr(e.json, "\"customTarget\""));
  CHECK(strstr(e.json, "type 'custom'") && strstr(e.json, "luaopen_tureen"));
  tureen_free(t);
}

/* What listeners of uncaughtError heard. */
static int uncaught;
static char last_uncaught[1024];

static void on_uncaught(tureen *t, const char *event, const char *json, size_t length, void *user) {
  (void)t, (void)user;
  CHECK(strcmp(event, "uncaughtError") == 0 && strlen(json) == length);
  uncaught++;
  snprintf(last_uncaught, sizeof last_uncaught, "%s", json);
}

static void failures_without_a_callback_are_told_once(const char *home) {
  tureen *t = open_at(home, "unheard");
  static const char missing[] = "{\"soupName\": \"missing\"}", sync[] = "com.salesforce.mobilesync";
  /* Nobody listens: nothing happens, and nothing is printed. */
  CHECK(tureen_exec(t, service, "pgClearSoup", missing, NULL, NULL, NULL) > 0);
  while (tureen_pending(t) > 0) CHECK(tureen_poll(t, -1) >= 0);
  CHECK(tureen_listen(t, "uncaughtError", on_uncaught, NULL) > 0);
  CHECK(tureen_exec(t, service, "pgClearSoup", missing, NULL, NULL, NULL) > 0);
  while (tureen_pending(t) > 0) CHECK(tureen_poll(t, -1) >= 0);
  CHECK(uncaught == 1 && strstr(last_uncaught, "\"error\":{") && strstr(last_uncaught, "\"code\":\"noSuchSoup\""));
  CHECK(strstr(last_uncaught, "\"source\":\"com.salesforce.smartstore:pgClearSoup\""));
  CHECK(strstr(last_uncaught, "\"traceback\":\"in com.salesforce.smartstore:pgClearSoup, called without a callback\""));
  CHECK(tureen_exec(t, "say \"no\"", "a\nb", NULL, NULL, NULL, NULL) > 0);
  CHECK(tureen_exec(t, sync, "reSync", "{\"syncName\": \"missing\"}", NULL, NULL, NULL) > 0);
  while (tureen_pending(t) > 0) CHECK(tureen_poll(t, -1) >= 0);
  CHECK(uncaught == 3);
  /* One that a callback hears of, one that succeeds, one that was given up, and one that the close ends. */
  ending e = {0};
  CHECK(tureen_exec(t, service, "pgClearSoup", missing, on_end, &e, NULL) > 0);
  CHECK(tureen_exec(t, service, "pgSoupExists", exists, NULL, NULL, NULL) > 0);
  CHECK(tureen_cancel(t, tureen_exec(t, service, "pgClearSoup", missing, NULL, NULL, NULL)) == TUREEN_OK);
  while (tureen_pending(t) > 0) CHECK(tureen_poll(t, -1) >= 0);
  CHECK(tureen_exec(t, service, "pgClearSoup", missing, NULL, NULL, NULL) > 0);
  tureen_free(t);
  CHECK(e.count == 1 && uncaught == 3);
}

static void closed_handles_say_so(const char *home) {
  tureen *t = open_at(home, "closed");
  ending e = {0};
  CHECK(tureen_exec(t, service, "pgSoupExists", exists, on_end, &e, NULL) > 0);
  CHECK(tureen_close(t) == TUREEN_OK);
  CHECK(e.count == 1 && e.kind == TUREEN_ANSWER_ERROR && strstr(e.json, "\"closed\""));
  CHECK(tureen_close(t) == TUREEN_OK);
  char *error = "";
  CHECK(tureen_exec(t, service, "pgSoupExists", exists, on_end, &e, &error) == TUREEN_CLOSED && error == NULL);
  CHECK(tureen_poll(t, 0) == TUREEN_CLOSED && tureen_fd(t) == TUREEN_CLOSED && tureen_pending(t) == TUREEN_CLOSED);
  CHECK(tureen_cancel(t, 1) == TUREEN_CLOSED && tureen_unlisten(t, 1) == TUREEN_CLOSED);
  CHECK(strcmp(tureen_status_text(TUREEN_CLOSED), "the host is closed") == 0);
  tureen_free(t);
  CHECK(e.count == 1);
}

static void close_inside(tureen *t, int64_t call, int kind, const char *json, size_t length, void *user) {
  (void)call, (void)kind, (void)json, (void)length;
  int *answers = user;
  if (++*answers == 1) CHECK(tureen_close(t) == TUREEN_OK);
  else CHECK(tureen_exec(t, service, "pgSoupExists", exists, NULL, NULL, NULL) == TUREEN_CLOSED);
}

static void free_inside(tureen *t, int64_t call, int kind, const char *json, size_t length, void *user) {
  (void)call, (void)kind, (void)json, (void)length;
  int *answers = user;
  if (++*answers == 1) tureen_free(t);
}

static void callbacks_may_close(const char *home) {
  tureen *t = open_at(home, "inside");
  int answers = 0;
  for (int i = 0; i < 50; i++) CHECK(tureen_exec(t, service, "pgSoupExists", exists, close_inside, &answers, NULL) > 0);
  int delivered;
  while ((delivered = tureen_poll(t, -1)) == 0) {}
  CHECK(delivered == TUREEN_CLOSED && answers == 50);
  tureen_free(t);
  t = open_at(home, "inside");
  answers = 0;
  for (int i = 0; i < 50; i++) CHECK(tureen_exec(t, service, "pgSoupExists", exists, free_inside, &answers, NULL) > 0);
  while ((delivered = tureen_poll(t, -1)) == 0) {}
  CHECK(delivered == TUREEN_CLOSED && answers == 50);
}

static void *poll_until_closed(void *t) {
  int delivered;
  while ((delivered = tureen_poll(t, -1)) >= 0) {}
  CHECK(delivered == TUREEN_CLOSED || delivered == TUREEN_MISUSE);
  return NULL;
}

static void *call_often(void *t) {
  int64_t id = 1;
  for (int i = 0; i < 2000 && id > 0; i++) id = tureen_exec(t, service, "pgSoupExists", exists, NULL, NULL, NULL);
  CHECK(id > 0 || id == TUREEN_CLOSED || id == TUREEN_REFUSED);
  return NULL;
}

static void other_threads_may_close(const char *home) {
  tureen *t = open_at(home, "threads");
  pthread_t poller, callers[2];
  CHECK(pthread_create(&poller, NULL, poll_until_closed, t) == 0);
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&callers[i], NULL, call_often, t) == 0);
  for (int i = 0; i < 2; i++) pthread_join(callers[i], NULL);
  CHECK(tureen_close(t) == TUREEN_OK);
  pthread_join(poller, NULL);
  tureen_free(t);
}

/* What listeners heard, in order. */
static char heard[256];

static void on_state(tureen *t, const char *event, const char *json, size_t length, void *user) {
  (void)t, (void)length, (void)user;
  CHECK(strcmp(json, "null") == 0);
  strcat(strcat(heard, event), " ");
}

static void reports_reach_listeners(const char *home) {
  tureen *t = open_at(home, "reports");
  static const char *const events[] = {"online", "offline", "pause", "resume", "salesforceSessionRefresh",
                                       "sessionLost"};
  for (int i = 0; i < 5; i++) CHECK(tureen_listen(t, events[i], on_state, NULL) > 0);
  CHECK(tureen_listen(t, "onlin", on_state, NULL) == TUREEN_MISUSE);
  CHECK(tureen_report(t, 4) == TUREEN_MISUSE && tureen_report(t, -1) == TUREEN_MISUSE);
  static const struct {
    int state;
    const char *heard;
  } steps[] = {{TUREEN_OFFLINE, "offline "},
               {TUREEN_ONLINE, "offline online "},
               {TUREEN_PAUSE, "offline online pause "},
               {TUREEN_RESUME, "offline online pause resume "}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    CHECK(tureen_report(t, steps[i].state) == TUREEN_OK && tureen_report(t, steps[i].state) == TUREEN_OK);
    while (strcmp(heard, steps[i].heard) != 0) CHECK(tureen_poll(t, 20000) > 0);
  }
  tureen_close(t);
  CHECK(tureen_report(t, TUREEN_ONLINE) == TUREEN_CLOSED);
  tureen_free(t);
}

static void hosts_do_not_know_each_other(const char *home) {
  tureen *a = open_at(home, "a"), *b = open_at(home, "b");
  ending e = {0};
  tureen_exec(a, service, "pgRegisterSoup", "{\"soupName\": \"people\", \"indexes\": [{\"path\": \"Id\", \"type\": \"string\"}]}",
              on_end, &e, NULL);
  while (tureen_pending(a) > 0) tureen_poll(a, -1);
  CHECK(e.kind == TUREEN_ANSWER_RESULT);
  tureen_exec(b, service, "pgSoupExists", exists, on_end, &e, NULL);
  CHECK(tureen_pending(a) == 0 && tureen_pending(b) == 1);
  tureen_free(a);
  while (tureen_pending(b) > 0) tureen_poll(b, -1);
  CHECK(strcmp(e.json, "false") == 0);
  tureen_free(b);
}

int main(int count, char **arguments) {
  CHECK(count == 2);
  wrong_arguments_are_errors(arguments[1]);
  custom_targets_say_that_they_need_lua(arguments[1]);
  failures_without_a_callback_are_told_once(arguments[1]);
  closed_handles_say_so(arguments[1]);
  callbacks_may_close(arguments[1]);
  other_threads_may_close(arguments[1]);
  reports_reach_listeners(arguments[1]);
  hosts_do_not_know_each_other(arguments[1]);
  CHECK(signals_are_untouched());
  puts("done");
  return 0;
}
