/* Scans the arguments of a call, which avoids parsing them twice. */
#define _GNU_SOURCE
#include <string.h>

#include "include/tureen_isolation.h"

int tureen_may_name_store(const char *json, size_t length) {
  static const char *const keys[] = {"storeName", "isGlobalStore", "\\u"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys && json != NULL; i++)
    if (memmem(json, length, keys[i], strlen(keys[i])) != NULL) return 1;
  return 0;
}
