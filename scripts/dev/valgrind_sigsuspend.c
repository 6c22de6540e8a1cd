// Preloaded by scripts/dev/valgrind: libdispatch hands sigsuspend a mask in read-only memory, and valgrind (3.19) dies as it writes
// its own signal into it. This one hands on a copy.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    sigset_t copy = *mask;
    return (int)syscall(SYS_rt_sigsuspend, &copy, _NSIG / 8);
}
