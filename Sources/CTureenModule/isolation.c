/* The C API of tureen.h: scripts in a process of their own. */
#include "embedding.h"

#include <stdlib.h>

#define PUBLIC __attribute__((visibility("default")))

PUBLIC int tureen_run_isolated(const char *options, const char *path, const char *text, int stop_fd, char **result) {
  if (result == NULL) return TUREEN_MISUSE;
  *result = NULL;
  if (path == NULL) return TUREEN_MISUSE;
  tureen_bytes bytes = {NULL, 0};
  int has_run = tureen_embedded_isolated(options == NULL ? "{}" : options, path, text, stop_fd, &bytes);
  *result = tureen_text_of(&bytes);
  return *result == NULL ? TUREEN_NO_MEMORY : has_run ? TUREEN_OK : TUREEN_REFUSED;
}
