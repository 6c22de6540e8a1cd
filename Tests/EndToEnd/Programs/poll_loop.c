/* A program with a poll(2) loop of its own: registers a soup, upserts, syncs down, asks how much is there.
 * Usage: poll_loop HOME */
#include <poll.h>
#include <tureen.h>

#include "check.h"

static const char store_service[] = "com.salesforce.smartstore", sync_service[] = "com.salesforce.mobilesync";

/* What became of the calls. */
typedef struct progress {
  int results, errors, updates, events;
  char last[4096];
} progress;

static void note(progress *p, const char *json, size_t length) {
  CHECK(strlen(json) == length);
  snprintf(p->last, sizeof p->last, "%s", json);
}

static void on_answer(tureen *t, int64_t call, int kind, const char *json, size_t length, void *user) {
  progress *p = user;
  CHECK(call > 0);
  CHECK(tureen_poll(t, 0) == TUREEN_MISUSE);
  if (kind == TUREEN_ANSWER_RESULT) p->results++;
  else if (kind == TUREEN_ANSWER_PROGRESS) p->updates++;
  else {
    p->errors++;
    fprintf(stderr, "%s\n", json);
  }
  note(p, json, length);
}

static void on_sync(tureen *t, const char *event, const char *json, size_t length, void *user) {
  (void)t;
  progress *p = user;
  CHECK(strcmp(event, "sync") == 0);
  CHECK(strstr(json, "\"storeName\":\"defaultStore\"") != NULL && strstr(json, "\"isGlobalStore\":false") != NULL);
  CHECK(json[length - 1] == '}');
  p->events++;
}

/* The program's loop: here it watches one thing, but it could be a hundred. Until nothing is pending. */
static void loop(tureen *t) {
  struct pollfd watched = {.fd = tureen_fd(t), .events = POLLIN};
  while (tureen_pending(t) > 0) {
    CHECK(poll(&watched, 1, 60000) == 1);
    CHECK(tureen_poll(t, 0) > 0);
  }
}

/* One call to its end; its result is in p->last. */
static void run(tureen *t, const char *service, const char *action, const char *arguments, progress *p) {
  int before = p->results;
  CHECK(tureen_exec(t, service, action, arguments, on_answer, p, NULL) > 0);
  loop(t);
  CHECK(p->errors == 0 && p->results == before + 1);
}

int main(int count, char **arguments) {
  CHECK(count == 2);
  CHECK(strcmp(tureen_version(), TUREEN_VERSION) == 0);
  char options[1024];
  snprintf(options, sizeof options, "{\"home\": \"%s\"}", arguments[1]);
  tureen *t;
  char *error;
  CHECK(tureen_open(options, &t, &error) == TUREEN_OK && error == NULL);
  progress p = {0};
  CHECK(tureen_listen(t, "sync", on_sync, &p) > 0);

  run(t, store_service, "pgRegisterSoup",
      "{\"soupName\": \"people\", \"indexes\": [{\"path\": \"Id\", \"type\": \"string\"}]}", &p);
  CHECK(strcmp(p.last, "\"people\"") == 0);
  run(t, store_service, "pgUpsertSoupEntries",
      "{\"soupName\": \"people\", \"entries\": [{\"Id\": \"mine\", \"LastName\": \"Ito\"}], \"externalIdPath\": \"Id\"}", &p);
  CHECK(strstr(p.last, "_soupEntryId") != NULL && p.events == 0);
  run(t, sync_service, "syncDown",
      "{\"soupName\": \"people\", \"target\": {\"type\": \"soql\", \"query\": \"SELECT Id, LastName FROM Contact\"},"
      " \"options\": {\"mergeMode\": \"OVERWRITE\"}, \"syncName\": \"down\"}",
      &p);
  CHECK(strstr(p.last, "\"DONE\"") != NULL);
  CHECK(p.updates > 0 && p.events == p.updates + 1);
  run(t, store_service, "pgRunSmartQuery",
      "{\"querySpec\": {\"queryType\": \"smart\", \"smartSql\": \"SELECT count(*) FROM {people}\", \"pageSize\": 1}}", &p);
  CHECK(strstr(p.last, "[[5001]]") != NULL);
  CHECK(signals_are_untouched());
  tureen_free(t);
  puts("5001 people");
  return 0;
}
