/* Smart queries without an end: other calls go on, tureen_cancel and tureen_close end them. Usage: endless_query HOME */
#include <tureen.h>

#include "check.h"

#define STORES 10 /* more than the library has threads for */

typedef struct ending {
  int count, kind;
  char json[512];
} ending;

static const char *const service = "com.salesforce.smartstore";

static void on_end(tureen *t, int64_t call, int kind, const char *json, size_t length, void *user) {
  (void)t, (void)call, (void)length;
  ending *e = user;
  e->count++;
  e->kind = kind;
  snprintf(e->json, sizeof e->json, "%s", json);
}

static int64_t start(tureen *t, int store, ending *e) {
  char arguments[512];
  snprintf(arguments, sizeof arguments,
           "{\"storeName\": \"s%d\", \"isGlobalStore\": true, \"querySpec\": {\"queryType\": \"smart\", \"smartSql\":"
           " \"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c\"}}",
           store);
  int64_t id = tureen_exec(t, service, "pgRunSmartQuery", arguments, on_end, e, NULL);
  CHECK(id > 0);
  return id;
}

int main(int count, char **arguments) {
  CHECK(count == 2);
  char options[1024];
  snprintf(options, sizeof options, "{\"home\": \"%s\"}", arguments[1]);
  tureen *t;
  CHECK(tureen_open(options, &t, NULL) == TUREEN_OK);
  ending queries[STORES] = {0}, other = {0}, behind = {0}, last = {0};
  int64_t ids[STORES];
  for (int i = 0; i < STORES; i++) ids[i] = start(t, i, &queries[i]);

  CHECK(tureen_exec(t, service, "pgSoupExists", "{\"storeName\": \"other\", \"isGlobalStore\": true, \"soupName\": \"x\"}",
                    on_end, &other, NULL) > 0);
  while (other.count == 0) CHECK(tureen_poll(t, -1) >= 0);
  CHECK(other.kind == TUREEN_ANSWER_RESULT && tureen_pending(t) == STORES);

  CHECK(tureen_exec(t, service, "pgSoupExists", "{\"storeName\": \"s0\", \"isGlobalStore\": true, \"soupName\": \"x\"}", on_end,
                    &behind, NULL) > 0);
  for (int i = 0; i < STORES; i++) CHECK(tureen_cancel(t, ids[i]) == TUREEN_OK);
  while (tureen_pending(t) > 0) CHECK(tureen_poll(t, -1) >= 0);
  for (int i = 0; i < STORES; i++)
    CHECK(queries[i].count == 1 && queries[i].kind == TUREEN_ANSWER_ERROR && strstr(queries[i].json, "\"cancelled\""));
  CHECK(behind.count == 1 && behind.kind == TUREEN_ANSWER_RESULT);

  start(t, 0, &last);
  CHECK(tureen_close(t) == TUREEN_OK);
  CHECK(last.count == 1 && last.kind == TUREEN_ANSWER_ERROR && strstr(last.json, "\"closed\""));
  tureen_free(t);
  puts("done");
  return 0;
}
