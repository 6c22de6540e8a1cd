// Preloaded by scripts/dev/sanitize: tells the thread sanitizer what it does not see by itself.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/syscall.h>

// Debian's Lua raises errors with __longjmp_chk, which the sanitizer does not know. Its own stack of calls would grow with every error
// until it writes beyond it. longjmp it knows.
__attribute__((noreturn)) void __longjmp_chk(struct __jmp_buf_tag *where, int value) { longjmp(where, value); }

// Of the sanitizer's runtime, in the program.
void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

// Swift's Mutex hands a lock that others wait for over in the kernel, out of the sanitizer's sight.
long syscall(long number, ...) {
  static long (*next)(long, ...);
  if (!next) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  long a[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
  va_end(list);
  int operation = number == SYS_futex ? (int)a[1] & FUTEX_CMD_MASK : -1;
  if (operation == FUTEX_UNLOCK_PI && __tsan_release) __tsan_release((void *)a[0]);
  long result = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (result == 0 && (operation == FUTEX_LOCK_PI || operation == FUTEX_TRYLOCK_PI) && __tsan_acquire) __tsan_acquire((void *)a[0]);
  return result;
}
