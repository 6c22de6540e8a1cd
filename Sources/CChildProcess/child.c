#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/tureen_child.h"

/* The lowest descriptor that the program does not inherit. */
#define FIRST_OTHER 3

/* Marks all descriptors from FIRST_OTHER on to be closed by execve, so that the one for its failure stays usable until then. */
static void close_others_on_exec(void) {
#ifdef SYS_close_range
  const unsigned int close_on_exec = 1U << 2; /* CLOSE_RANGE_CLOEXEC, Linux 5.11 */
  if (syscall(SYS_close_range, FIRST_OTHER, ~0U, close_on_exec) == 0) return;
#endif
  struct rlimit limit;
  long count = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (long)limit.rlim_cur : 65536;
  for (int descriptor = FIRST_OTHER; descriptor < count; descriptor++) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

/* What a child becomes. */
typedef struct {
  const char *path;
  char *const *arguments;
  char *const *environment;
  /* NULL for this process's. */
  const char *directory;
  /* -1 for /dev/null. */
  int input;
  /* Whether the kernel ends it with the thread that started it. */
  bool ends_with_parent;
} program;

static void reset_signals(void) {
  struct sigaction usual = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) {
    struct sigaction current;
    /* nohup ignores it for all that it starts; this process never does. */
    if (number == SIGHUP && sigaction(number, NULL, &current) == 0 && current.sa_handler == SIG_IGN) continue;
    sigaction(number, &usual, NULL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Only functions that are safe after a fork of a process with threads. Returns an errno. */
static int become(pid_t parent, const program *next) {
  if (next->ends_with_parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) != 0) return errno;
    /* The parent ended before the line above. */
    if (getppid() != parent) return ECHILD;
  }
  setpgid(0, 0);
  reset_signals();
  int input = next->input >= 0 ? next->input : open("/dev/null", O_RDONLY);
  if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return errno;
  if (next->directory && chdir(next->directory) != 0) return errno;
  close_others_on_exec();
  execve(next->path, next->arguments, next->environment);
  return errno;
}

static int start(const program *next, pid_t *process) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  /* Handlers of this process must not run in the child. */
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t parent = getpid(), child = fork();
  int failed = child < 0 ? errno : 0;
  if (child == 0) {
    failed = become(parent, next);
    ssize_t written = write(ends[1], &failed, sizeof failed);
    _exit(written == sizeof failed ? 127 : 126);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(ends[1]);
  if (child > 0) {
    ssize_t count;
    do count = read(ends[0], &failed, sizeof failed);
    while (count < 0 && errno == EINTR);
    if (count != sizeof failed) failed = 0;
    if (failed) {
      int status;
      while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    }
  }
  close(ends[0]);
  if (!failed) *process = child;
  return failed;
}

int tureen_child_start(const char *path, char *const *arguments, char *const *environment, pid_t *process) {
  program next = {.path = path, .arguments = arguments, .environment = environment, .input = -1, .ends_with_parent = true};
  return start(&next, process);
}

/* Returns a file without a name that holds these bytes; -1 with errno if there is none. */
static int file_of(const char *bytes, size_t count) {
  int file = memfd_create("tureen-input", MFD_CLOEXEC);
  if (file < 0) return -1;
  size_t done = 0;
  while (done < count) {
    ssize_t written = write(file, bytes + done, count - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    done += (size_t)written;
  }
  if (done == count && lseek(file, 0, SEEK_SET) == 0) return file;
  int failed = errno;
  close(file);
  errno = failed;
  return -1;
}

int tureen_program_start(const char *path, char *const *arguments, char *const *environment, const char *directory,
                         const void *input, size_t count, pid_t *process) {
  int file = file_of(input, count);
  if (file < 0) return errno;
  program next = {.path = path, .arguments = arguments, .environment = environment, .directory = directory, .input = file};
  int failed = start(&next, process);
  close(file);
  return failed;
}
