/* The filter of system calls. It allows only what Lua, the C library's memory and the channel need: no call that opens files,
 * connects, starts or signals processes, or makes memory executable. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker.h"

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#ifdef MACHINE

/* On a little-endian machine the low half of an argument comes first. */
#define LOW(i) (uint32_t)(offsetof(struct seccomp_data, args) + (i) * 8)
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset))
#define IF_EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), yes, no)
#define IF_ANY(bits, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (uint32_t)(bits), yes, no)
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)

/* The bit that marks calls of the x32 ABI, which would otherwise be taken for other calls. */
#define X32 0x40000000

/* Calls that are allowed with any arguments. */
static const uint32_t allowed[] = {
    SYS_read, SYS_write, SYS_writev, /* the channel and the outputs: no other descriptor is open */
#ifdef SYS_poll
    SYS_poll,
#endif
    SYS_ppoll, SYS_timerfd_settime,
    SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk, SYS_futex, SYS_getrandom,
    SYS_clock_gettime, SYS_gettimeofday,
#ifdef SYS_time
    SYS_time,
#endif
    SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_restart_syscall,
    SYS_getpid, SYS_gettid, /* of `abort` */
    SYS_exit, SYS_exit_group,
};

#define ALLOWED (sizeof allowed / sizeof *allowed)

/* Appends instructions; there is room for all of them. */
static void append(struct sock_filter **p, const struct sock_filter *some, size_t count) {
  memcpy(*p, some, count * sizeof *some);
  *p += count;
}

int wall_of_system_calls(void) {
  struct sock_filter filter[32 + 2 * ALLOWED], *p = filter;
  const struct sock_filter head[] = {
      LOAD(offsetof(struct seccomp_data, arch)),
      IF_EQUAL(MACHINE, 1, 0),
      RETURN(SECCOMP_RET_KILL_PROCESS),
      LOAD(offsetof(struct seccomp_data, nr)),
#ifdef __x86_64__
      IF_ANY(X32, 0, 1),
      RETURN(SECCOMP_RET_KILL_PROCESS),
#endif
  };
  append(&p, head, sizeof head / sizeof *head);
  for (size_t i = 0; i < ALLOWED; i++) {
    const struct sock_filter one[] = {IF_EQUAL(allowed[i], 0, 1), RETURN(SECCOMP_RET_ALLOW)};
    append(&p, one, 2);
  }
  const struct sock_filter memory[] = {
      /* Allow private memory that is not executable. */
      IF_EQUAL(SYS_mmap, 0, 6),
      LOAD(LOW(2)),
      IF_ANY(PROT_EXEC, 3, 0),
      LOAD(LOW(3)),
      IF_ANY(MAP_ANONYMOUS, 0, 1),
      RETURN(SECCOMP_RET_ALLOW),
      RETURN(SECCOMP_RET_TRAP),
  };
  append(&p, memory, sizeof memory / sizeof *memory);
  const struct sock_filter own_end[] = {
      /* `abort` sends SIGABRT to itself. */
      IF_EQUAL(SYS_tgkill, 0, 5),
      LOAD(LOW(0)),
      IF_EQUAL(getpid(), 0, 3),
      LOAD(LOW(2)),
      IF_EQUAL(SIGABRT, 0, 1),
      RETURN(SECCOMP_RET_ALLOW),
      RETURN(SECCOMP_RET_TRAP),
  };
  append(&p, own_end, sizeof own_end / sizeof *own_end);
  const struct sock_fprog program = {(unsigned short)(p - filter), filter};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

#else

int wall_of_system_calls(void) { return 0; }

#endif
