/* What the programs here share: a check that says where it failed, and a monotone look at who owns the signals. */
#ifndef CHECK_H
#define CHECK_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                \
  do {                                                                                  \
    if (!(condition)) {                                                                 \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);           \
      exit(1);                                                                          \
    }                                                                                   \
  } while (0)

/* Whether every signal still has its default action. */
static inline int signals_are_untouched(void) {
  for (int number = 1; number < 32; number++) {
    struct sigaction action;
    if (number == SIGKILL || number == SIGSTOP || sigaction(number, NULL, &action) != 0) continue;
    if (action.sa_handler != SIG_DFL) {
      fprintf(stderr, "signal %d has a handler or is ignored\n", number);
      return 0;
    }
  }
  return 1;
}

#endif
