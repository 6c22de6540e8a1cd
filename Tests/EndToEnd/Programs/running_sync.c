/* Closes a host whose sync waits for a page that does not come. Usage: running_sync HOME; the org comes from the environment. */
#include <tureen.h>

#include "check.h"

typedef struct state {
  int endings, has_page;
  char error[512];
} state;

static void on_answer(tureen *t, int64_t call, int kind, const char *json, size_t length, void *user) {
  (void)t, (void)call, (void)length;
  state *s = user;
  if (kind == TUREEN_ANSWER_PROGRESS) {
    if (strstr(json, "\"progress\":0") == NULL) s->has_page = 1;
    return;
  }
  s->endings++;
  snprintf(s->error, sizeof s->error, "%s", json);
}

int main(int count, char **arguments) {
  CHECK(count == 2);
  char options[1024];
  snprintf(options, sizeof options, "{\"home\": \"%s\"}", arguments[1]);
  tureen *t;
  CHECK(tureen_open(options, &t, NULL) == TUREEN_OK);
  state s = {0}, registered = {0};
  tureen_exec(t, "com.salesforce.smartstore", "pgRegisterSoup",
              "{\"soupName\": \"c\", \"indexes\": [{\"path\": \"Id\", \"type\": \"string\"}]}", on_answer, &registered, NULL);
  CHECK(tureen_exec(t, "com.salesforce.mobilesync", "syncDown",
                    "{\"soupName\": \"c\", \"syncName\": \"down\","
                    " \"target\": {\"type\": \"soql\", \"query\": \"SELECT Id, LastModifiedDate FROM Contact\"}}",
                    on_answer, &s, NULL) > 0);
  while (!s.has_page && s.endings == 0) CHECK(tureen_poll(t, -1) >= 0);
  CHECK(s.endings == 0 && registered.endings == 1);
  CHECK(tureen_close(t) == TUREEN_OK);
  CHECK(s.endings == 1 && strstr(s.error, "\"closed\""));
  tureen_free(t);
  CHECK(signals_are_untouched());
  puts("closed");
  return 0;
}
