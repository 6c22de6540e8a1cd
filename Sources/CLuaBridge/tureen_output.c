/* Finds out whether what scripts print has reached standard output. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "tureen_bridge.h"

int tureen_output_failure(void) {
  int is_lost = fflush(stdout) != 0;
  if (is_lost) return errno == EPIPE ? 0 : errno;
  if (!ferror(stdout)) return 0;
  /* An earlier write failed. A pipe without a reader is not a failure. */
  struct pollfd output = {.fd = STDOUT_FILENO};
  if (poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0) return 0;
  return -1;
}
