/* Attempts behind a worker's walls what a script that has taken over its process would attempt. One line an attempt: its name and
 * what came of it: the signal or the errno, or "done". */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "worker.h"

static long open_file(void) { return syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY); }
static long write_file(void) { return syscall(SYS_openat, AT_FDCWD, "/tmp/owned", O_WRONLY | O_CREAT, 0600); }
static long list_folder(void) { return syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY); }
static long remove_file(void) { return syscall(SYS_unlinkat, AT_FDCWD, "/tmp/owned", 0); }
static long run_program(void) {
  char *arguments[] = {"/bin/true", NULL};
  return syscall(SYS_execve, arguments[0], arguments, arguments + 1);
}
static long fork_process(void) { return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }
static long fork_anew(void) {
  struct { uint64_t field[11]; } arguments = {{0}};
  return syscall(435 /* clone3 */, &arguments, sizeof arguments);
}
static long connect_out(void) { return socket(AF_INET, SOCK_STREAM, 0); }
static long connect_here(void) { return socket(AF_UNIX, SOCK_STREAM, 0); }
static long kill_parent(void) { return syscall(SYS_kill, getppid(), SIGKILL); }
static long kill_all(void) { return syscall(SYS_kill, -1, SIGKILL); }
static long abort_another(void) { return syscall(SYS_tgkill, 1, 1, SIGABRT); }
static long trace_parent(void) { return ptrace(PTRACE_ATTACH, 1, 0, 0); }
static long make_code(void) {
  return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
}
static long turn_into_code(void) { return mprotect(&errno, 1, PROT_READ | PROT_EXEC); }
static long map_file(void) { return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 0, 0) == MAP_FAILED ? -1 : 0; }
static long type_into_terminal(void) { return ioctl(1, TIOCSTI, "x"); }
static long pass_descriptor(void) {
  struct msghdr message = {0};
  return sendmsg(1, &message, 0);
}
static long raise_limit(void) {
  struct rlimit most = {RLIM_INFINITY, RLIM_INFINITY};
  return prlimit(0, RLIMIT_AS, &most, NULL);
}
static long leave_namespace(void) { return syscall(SYS_setns, 0, 0); }
static long handle_signal(void) { return signal(SIGSYS, SIG_IGN) == SIG_ERR ? -1 : 0; }
static long load_program(void) { return syscall(SYS_bpf, 0, NULL, 0); }
static long use_ring(void) { return syscall(425 /* io_uring_setup */, 1, NULL); }
static long sleep_on(void) { return usleep(1); }
#ifdef __x86_64__
static long call_as_x32(void) { return syscall(0x40000000 | SYS_getpid); }
/* The 32 bit door of the kernel, whose numbers mean other calls: 20 is getpid. */
static long call_as_i386(void) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory");
  return result;
}
#endif

/* What Lua needs goes on working. */
static long use_memory(void) {
  for (int i = 0; i < 100; i++) {
    void *large = malloc(1 << 20), *small = malloc(100);
    if (large == NULL || small == NULL) return -1;
    large = realloc(large, 3 << 20);
    free(small), free(large);
  }
  return 0;
}
static long tell_time(void) {
  time_t now = time(NULL);
  struct tm parts;
  return clock() == (clock_t)-1 || localtime_r(&now, &parts) == NULL ? -1 : 0;
}
static long eat_memory(void) {
  for (int i = 0; i < 1 << 16; i++)
    if (mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) return -1;
  return 0;
}
static long give_up(void) { abort(); }

static const struct {
  const char *name;
  long (*run)(void);
} attempts[] = {
    {"open a file", open_file}, {"write a file", write_file}, {"list a folder", list_folder}, {"remove a file", remove_file},
    {"run a program", run_program}, {"fork", fork_process}, {"fork by clone3", fork_anew}, {"connect out", connect_out},
    {"connect to this machine", connect_here}, {"kill the parent", kill_parent}, {"kill all", kill_all},
    {"abort another process", abort_another}, {"trace a process", trace_parent}, {"make code", make_code},
    {"turn data into code", turn_into_code}, {"map a file", map_file}, {"type into the terminal", type_into_terminal},
    {"pass a descriptor", pass_descriptor}, {"raise a limit", raise_limit}, {"leave a namespace", leave_namespace},
    {"ignore a signal", handle_signal}, {"load into the kernel", load_program}, {"use a ring", use_ring}, {"sleep", sleep_on},
#ifdef __x86_64__
    {"call as x32", call_as_x32}, {"call as i386", call_as_i386},
#endif
    {"use memory", use_memory}, {"tell the time", tell_time}, {"eat memory", eat_memory}, {"abort", give_up},
};

/* The calls that security.md lists as allowed with any arguments. */
static const struct {
  const char *name;
  long number;
} allowed[] = {
#define CALL(name) {#name, SYS_##name},
    CALL(read) CALL(write) CALL(writev) CALL(ppoll) CALL(timerfd_settime) CALL(munmap) CALL(mremap) CALL(madvise) CALL(brk)
    CALL(futex) CALL(getrandom) CALL(clock_gettime) CALL(gettimeofday) CALL(rt_sigreturn) CALL(rt_sigprocmask)
    CALL(restart_syscall) CALL(getpid) CALL(gettid) CALL(exit) CALL(exit_group)
#ifdef SYS_poll
    CALL(poll) CALL(time)
#endif
};

static int is_allowed(long number) {
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
    if (allowed[i].number == number) return 1;
  return 0;
}

/* Makes every system call behind the filter alone, and says which are not as listed. */
static int try_every_call(void) {
  int count = 0;
  for (long number = 0; number < 700; number++) {
#ifdef __x86_64__
    if (number == 335 || number == 336) continue; /* of uprobes: no filter sees them, and outside of a probe they do nothing */
#endif
    pid_t child = fork();
    if (child == 0) {
      alarm(1); /* ends ppoll, which waits */
      if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !wall_of_system_calls()) _exit(99);
      syscall(number, 0, 0, 0, 0, 0, 0);
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    int is_refused = WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 99) return puts("no filter"), 0;
    if (is_refused == is_allowed(number)) printf("%ld is %s\n", number, is_refused ? "refused" : "allowed");
    count += is_refused;
  }
  printf("%s\n", count > 600 ? "the others are refused" : "too many are allowed");
  return 0;
}

/* Tries what the other layers stop where a container forbids the filter. Names the layers of this kernel first. */
static int try_without_filter(void) {
  static const tureen_worker_setup setup = {.address_space = 512u << 20};
  static const struct {
    const char *name;
    long (*run)(void);
  } tries[] = {{"open a file", open_file}, {"write a file", write_file}, {"list a folder", list_folder},
               {"fork", fork_process},     {"eat memory", eat_memory},   {"trace a process", trace_parent}};
  for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      int64_t layers = wall_in_but_filter(&setup, 2);
      if (i == 0) printf("layers %d\n", (int)layers), fflush(stdout);
      errno = 0;
      long result = tries[i].run();
      _exit(result == -1 ? 1 : 0);
    }
    int status;
    waitpid(child, &status, 0);
    printf("%s: %s\n", tries[i].name, WIFSIGNALED(status) || WEXITSTATUS(status) == 1 ? "refused" : "done");
  }
  return 0;
}

int main(int count, char **arguments) {
  if (count > 1) return strcmp(arguments[1], "calls") == 0 ? try_every_call() : try_without_filter();
  static const tureen_worker_setup setup = {.address_space = 512u << 20};
  for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      tzset();
      if ((wall_in(&setup, 2) & TUREEN_LAYER_SECCOMP) == 0) _exit(99);
      errno = 0;
      _exit(attempts[i].run() == -1 ? 1 : 0);
    }
    int status;
    waitpid(child, &status, 0);
    printf("%s: ", attempts[i].name);
    if (WIFSIGNALED(status)) printf("signal %d\n", WTERMSIG(status));
    else puts(WEXITSTATUS(status) == 99 ? "no walls" : WEXITSTATUS(status) == 1 ? "refused" : "done");
  }
  return 0;
}
