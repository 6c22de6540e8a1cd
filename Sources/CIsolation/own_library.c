/* Finds the file that contains this code. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#include "include/tureen_isolation.h"

int tureen_own_library(char *_Nonnull path) {
  Dl_info info;
  return dladdr((void *)tureen_own_library, &info) != 0 && info.dli_fname != NULL && realpath(info.dli_fname, path) != NULL;
}
