#include <sys/eventfd.h>

#include "include/tureen_bridge.h"

int tureen_signal_open(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void tureen_signal_set(int descriptor, int readable) {
  eventfd_t count;
  if (readable) eventfd_write(descriptor, 1);
  else eventfd_read(descriptor, &count);
}
