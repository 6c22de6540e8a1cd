/* Scripts in a process of their own, from a program without Lua. Usage: isolated HOME WORKER */
#include <pthread.h>
#include <tureen.h>
#include <unistd.h>

#include "check.h"

static char home_option[1024], worker_option[1024];

/* Runs a text with these further options, and checks the status and a part of the result. */
static void expect(const char *more, const char *text, int status, const char *part) {
  char options[4096], *result;
  snprintf(options, sizeof options, "{%s, %s%s%s}", home_option, worker_option, more[0] ? ", " : "", more);
  CHECK(tureen_run_isolated(options, "script", text, -1, &result) == status);
  if (strstr(result, part) == NULL) fprintf(stderr, "got %s\n", result);
  CHECK(strstr(result, part) != NULL);
  tureen_text_free(result);
}

static void ends_are_told_apart(void) {
  expect("\"arguments\": [\"a\", \"b\"]", "assert(arg[1] == 'a' and arg[2] == 'b' and arg[0] == 'script')", TUREEN_OK,
         "{\"end\":\"done\"}");
  expect("", "require('tureen').main(function() return 9 end)", TUREEN_OK, "\"status\":9");
  expect("", "error 'oh'", TUREEN_OK, "script:1: oh");
  expect("", "x =", TUREEN_OK, "\"end\":\"notRunnable\"");
  expect("\"timeLimitMs\": 200", "while true do end", TUREEN_OK, "\"limit\":\"time\"");
  expect("\"memoryLimit\": 4000000", "local t = {} while true do t[#t + 1] = {} end", TUREEN_OK, "\"limit\":\"memory\"");
  expect("\"instructionLimit\": 100000", "while true do end", TUREEN_OK, "\"limit\":\"instructions\"");
  expect("", "require('tureen').smartstore.soupExists('c', function(is) assert(is == false) end)", TUREEN_OK, "\"done\"");
  expect("", "require('tureen').main(function() error(select(2, require('tureen').await(require('tureen').smartstore.clearSoup, 'c')))"
         " end)", TUREEN_OK, "\"code\":\"noSuchSoup\"");
}

static void wrong_options_are_refused(void) {
  expect("\"memoryLimits\": 1", "", TUREEN_REFUSED, "memoryLimit");
  expect("\"memoryLimit\": \"1M\"", "", TUREEN_REFUSED, "'memoryLimit' must be an integer");
  expect("\"arguments\": [1]", "", TUREEN_REFUSED, "'arguments' must be an array of strings");
  expect("\"signIn\": \"program\"", "", TUREEN_REFUSED, "signIn");
  expect("\"allowedServices\": [\"com.salesforce.oath\"]", "", TUREEN_REFUSED, "did you mean 'com.salesforce.oauth'");
  expect("\"allowedHosts\": [\"*\"]", "", TUREEN_REFUSED, "one by one");
  char *result = home_option;
  CHECK(tureen_run_isolated("{}", NULL, "", -1, &result) == TUREEN_MISUSE && result == NULL);
  CHECK(tureen_run_isolated("{}", "x", "", -1, NULL) == TUREEN_MISUSE);
  CHECK(tureen_run_isolated("[", "x", "", -1, &result) == TUREEN_REFUSED && strstr(result, "not JSON"));
  tureen_text_free(result);
}

static void a_missing_worker_is_named(void) {
  char options[4096], *result;
  snprintf(options, sizeof options, "{%s, \"worker\": \"/nonexistent/worker\"}", home_option);
  CHECK(tureen_run_isolated(options, "script", "", -1, &result) == TUREEN_OK);
  CHECK(strstr(result, "\"reason\":\"notStarted\"") && strstr(result, "/nonexistent/worker"));
  tureen_text_free(result);
}

static int out[2], stop[2];

/* Waits until the script says that it runs, and asks it to stop. */
static void *stopper(void *unused) {
  char byte;
  CHECK(read(out[0], &byte, 1) == 1);
  CHECK(write(stop[1], "x", 1) == 1);
  return unused;
}

static void the_descriptor_interrupts(void) {
  char options[4096], *result;
  CHECK(pipe(out) == 0 && pipe(stop) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, stopper, NULL) == 0);
  snprintf(options, sizeof options, "{%s, %s, \"output\": %d}", home_option, worker_option, out[1]);
  CHECK(tureen_run_isolated(options, "script", "print 'on' while true do pcall(error) end", stop[0], &result) == TUREEN_OK);
  CHECK(strcmp(result, "{\"end\":\"interrupted\"}") == 0);
  tureen_text_free(result);
  CHECK(pthread_join(thread, NULL) == 0);
  /* Readable beforehand: the script does not get far. */
  CHECK(tureen_run_isolated(options, "script", "while true do pcall(error) end", stop[0], &result) == TUREEN_OK);
  CHECK(strcmp(result, "{\"end\":\"interrupted\"}") == 0);
  tureen_text_free(result);
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  snprintf(home_option, sizeof home_option, "\"home\": \"%s\"", argv[1]);
  snprintf(worker_option, sizeof worker_option, "\"worker\": \"%s\"", argv[2]);
  ends_are_told_apart();
  wrong_options_are_refused();
  a_missing_worker_is_named();
  the_descriptor_interrupts();
  /* The installed worker is found from the library. */
  char options[4096], *result;
  snprintf(options, sizeof options, "{%s}", home_option);
  CHECK(tureen_run_isolated(options, "script", "print 'found'", -1, &result) == TUREEN_OK);
  CHECK(strcmp(result, "{\"end\":\"done\"}") == 0);
  tureen_text_free(result);
  puts("done");
  return 0;
}
