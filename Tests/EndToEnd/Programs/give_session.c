/* A program that signs in itself: gives sessions, has none to give, says nonsense, and closes while it is asked. The org takes
 * the token "good" alone. Usage: give_session HOME ORG */
#include <pthread.h>
#include <tureen.h>

#include "check.h"

static const char *home, *org;

/* What happened, and what the listener answers: the texts in order, NULL at the end. */
typedef struct state {
  int asked, endings, kind;
  char need[512], json[1024];
  const char *const *answers;
} state;

static void on_answer(tureen *t, int64_t call, int kind, const char *json, size_t length, void *user) {
  (void)t, (void)call, (void)length;
  state *s = user;
  s->endings++;
  s->kind = kind;
  snprintf(s->json, sizeof s->json, "%s", json);
}

static void on_needed(tureen *t, const char *event, const char *json, size_t length, void *user) {
  state *s = user;
  CHECK(strcmp(event, "sessionNeeded") == 0 && strlen(json) == length);
  s->asked++;
  snprintf(s->need, sizeof s->need, "%s", json);
  if (s->answers != NULL && *s->answers != NULL) CHECK(tureen_give_session(t, *s->answers++) == TUREEN_OK);
}

static tureen *open_host(const char *name, state *s) {
  char options[1024];
  snprintf(options, sizeof options, "{\"home\": \"%s/%s\", \"signIn\": \"program\", \"org\": \"%s\"}", home, name, org);
  tureen *t;
  CHECK(tureen_open(options, &t, NULL) == TUREEN_OK);
  CHECK(tureen_listen(t, "sessionNeeded", on_needed, s) > 0);
  return t;
}

static void ask(tureen *t, state *s) {
  CHECK(tureen_exec(t, "com.salesforce.network", "pgSendRequest", "{\"path\": \"/services/data/v66.0/limits\"}", on_answer, s,
                    NULL) > 0);
}

static void ask_and_wait(tureen *t, state *s) {
  s->endings = 0;
  ask(t, s);
  while (s->endings == 0) CHECK(tureen_poll(t, -1) >= 0);
}

/* {"accessToken": token, ...} for this org. */
static const char *session(const char *token) {
  static char texts[2][512];
  static int next;
  char *text = texts[next++ % 2];
  snprintf(text, sizeof texts[0], "{\"accessToken\":\"%s\",\"instanceUrl\":\"%s\"}", token, org);
  return text;
}

static void gives_and_gives_again_when_refused(void) {
  const char *answers[] = {session("stale"), session("good"), NULL};
  state s = {.answers = answers};
  tureen *t = open_host("gives", &s);
  ask_and_wait(t, &s);
  CHECK(s.kind == TUREEN_ANSWER_RESULT && s.asked == 2);
  CHECK(strstr(s.need, "\"reason\":\"refused\"") && strstr(s.need, org) && strstr(s.need, "\"user\":\"program-user\""));
  ask_and_wait(t, &s);
  CHECK(s.kind == TUREEN_ANSWER_RESULT && s.asked == 2);
  CHECK(tureen_give_session(t, session("good")) == TUREEN_REFUSED); /* nothing waits for it */
  tureen_free(t);
}

static void has_none_to_give(void) {
  const char *answers[] = {"{\"error\":\"denied\",\"message\":\"Ann pressed Cancel\"}", NULL};
  state s = {.answers = answers};
  tureen *t = open_host("none", &s);
  ask_and_wait(t, &s);
  CHECK(s.kind == TUREEN_ANSWER_ERROR && strstr(s.json, "\"code\":\"notAuthenticated\"") && strstr(s.json, "Ann pressed Cancel"));
  CHECK(strstr(s.json, "\"reason\":\"denied\"") && strstr(s.need, "\"reason\":\"noSession\""));
  /* The next request asks again. */
  const char *more[] = {session("good"), NULL};
  s.answers = more;
  ask_and_wait(t, &s);
  CHECK(s.kind == TUREEN_ANSWER_RESULT && s.asked == 2);
  tureen_free(t);
}

static void *give_later(void *t) {
  CHECK(tureen_give_session(t, session("good")) == TUREEN_OK);
  return NULL;
}

static void says_nonsense_first(void) {
  state s = {0};
  tureen *t = open_host("nonsense", &s);
  CHECK(tureen_give_session(NULL, "{}") == TUREEN_MISUSE && tureen_give_session(t, NULL) == TUREEN_MISUSE);
  ask(t, &s);
  while (s.asked == 0) CHECK(tureen_poll(t, -1) >= 0);
  static const char *const wrong[] = {"", "{", "[]", "{}", "{\"accessToken\":\"x\"}", "{\"error\":\"x\"}",
                                      "{\"accessToken\":\"x\",\"instanceUrl\":\"http://acme.example.com\"}",
                                      "{\"accessToken\":\"a\\nb\",\"instanceUrl\":\"https://acme.example.com\"}", "{\"accessToken\":\"\xff\"}"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) CHECK(tureen_give_session(t, wrong[i]) == TUREEN_MISUSE);
  /* The host has gone on waiting; from another thread it gets what it waits for. */
  pthread_t other;
  CHECK(pthread_create(&other, NULL, give_later, t) == 0);
  while (s.endings == 0) CHECK(tureen_poll(t, -1) >= 0);
  pthread_join(other, NULL);
  CHECK(s.kind == TUREEN_ANSWER_RESULT);
  tureen_free(t);
}

static void closes_while_it_is_asked(void) {
  state s = {0};
  tureen *t = open_host("closes", &s);
  ask(t, &s);
  while (s.asked == 0) CHECK(tureen_poll(t, -1) >= 0);
  CHECK(tureen_close(t) == TUREEN_OK);
  CHECK(s.endings == 1 && s.kind == TUREEN_ANSWER_ERROR);
  CHECK(tureen_give_session(t, session("good")) == TUREEN_CLOSED);
  tureen_free(t);
}

static void options_are_checked(void) {
  tureen *t;
  char *error, options[1024];
  static const char *const wrong[][2] = {{"\"signIn\": \"person\", \"org\": \"x\"", "must be program"},
                                         {"\"signIn\": \"program\", \"org\": \"x\", \"credentials\": \"c.json\"", "'credentials'"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    snprintf(options, sizeof options, "{\"home\": \"%s/wrong\", %s}", home, wrong[i][0]);
    CHECK(tureen_open(options, &t, &error) == TUREEN_REFUSED && strstr(error, wrong[i][1]));
    tureen_text_free(error);
  }
}

int main(int count, char **arguments) {
  CHECK(count == 3);
  home = arguments[1];
  org = arguments[2];
  gives_and_gives_again_when_refused();
  has_none_to_give();
  says_nonsense_first();
  closes_while_it_is_asked();
  options_are_checked();
  CHECK(signals_are_untouched());
  puts("done");
  return 0;
}
