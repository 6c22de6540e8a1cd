/* Starts a worker process and waits for its end. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/tureen_isolation.h"

/* The lowest number for a descriptor that the child inherits: above the numbers that it gets there. */
#define CHILD_LOWEST 16

/* Milliseconds between two checks of a process that has no descriptor. */
#define LOOK_MS 5

typedef struct channel {
  int ours, theirs;
} channel;

static void close_one(int *descriptor) {
  if (*descriptor >= 0) close(*descriptor);
  *descriptor = -1;
}

/* Moves a descriptor out of the range of the child's descriptors. Returns 0, or an errno. */
static int lift(int *descriptor) {
  int lifted = fcntl(*descriptor, F_DUPFD_CLOEXEC, CHILD_LOWEST);
  if (lifted < 0) return errno;
  close(*descriptor);
  *descriptor = lifted;
  return 0;
}

static int open_channel(channel *c, int is_socket) {
  int ends[2];
  int failed = is_socket ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) : pipe2(ends, O_CLOEXEC);
  if (failed) return errno;
  c->ours = ends[0];
  c->theirs = ends[1];
  if (fcntl(c->ours, F_SETFL, fcntl(c->ours, F_GETFL) | O_NONBLOCK) != 0) return errno;
  return lift(&c->theirs);
}

/* Returns a variable of the environment as "NAME=value"; NULL if it is not set. */
static char *variable(const char *name) {
  const char *value = getenv(name);
  char *text = NULL;
  if (value == NULL || asprintf(&text, "%s=%s", name, value) < 0) return NULL;
  return text;
}

static int spawn(const char *program, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 pid_t *process) {
  /* The worker finds its libraries as this process does, and keeps the time zone; it gets no other variable. */
  char *path = variable("LD_LIBRARY_PATH"), *zone = variable("TZ");
  char *environment[3] = {NULL, NULL, NULL};
  int count = 0;
  if (path != NULL) environment[count++] = path;
  if (zone != NULL) environment[count++] = zone;
  char *const arguments[] = {(char *)"tureen-worker", NULL};
  int failed = posix_spawn(process, program, actions, attributes, arguments, environment);
  free(path);
  free(zone);
  return failed;
}

static int spawn_with(const char *program, const channel *channels, pid_t *process) {
  static const int targets[] = {TUREEN_WORKER_SOCKET, STDOUT_FILENO, STDERR_FILENO, TUREEN_WORKER_WORDS};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  int failed = posix_spawn_file_actions_init(&actions);
  if (failed) return failed;
  failed = posix_spawnattr_init(&attributes);
  if (failed) {
    posix_spawn_file_actions_destroy(&actions);
    return failed;
  }
  if (!failed) failed = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (int i = 0; i < 4 && !failed; i++)
    failed = posix_spawn_file_actions_adddup2(&actions, channels[i].theirs, targets[i]);
  /* The host handles the signals of the terminal. */
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID;
  if (!failed) failed = posix_spawnattr_setflags(&attributes, flags);
  if (!failed) failed = posix_spawnattr_setsigmask(&attributes, &none);
  if (!failed) failed = posix_spawnattr_setsigdefault(&attributes, &all);
  if (!failed) failed = spawn(program, &actions, &attributes, process);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

int tureen_worker_start(const char *program, tureen_worker *worker) {
  channel channels[4] = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
  int failed = 0;
  for (int i = 0; i < 4 && !failed; i++) failed = open_channel(&channels[i], i == 0);
  memset(worker, 0, sizeof *worker);
  if (!failed) failed = spawn_with(program, channels, &worker->process);
  for (int i = 0; i < 4; i++) close_one(&channels[i].theirs);
  if (failed) {
    for (int i = 0; i < 4; i++) close_one(&channels[i].ours);
    return failed;
  }
  worker->socket = channels[0].ours;
  worker->output = channels[1].ours;
  worker->errors = channels[2].ours;
  worker->words = channels[3].ours;
#ifdef SYS_pidfd_open
  worker->process_descriptor = (int)syscall(SYS_pidfd_open, worker->process, 0);
#else
  worker->process_descriptor = -1;
#endif
  return 0;
}

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int tureen_worker_wait(const tureen_worker *worker, int timeout_ms, int *status) {
  int64_t end = now_ms() + timeout_ms;
  for (;;) {
    pid_t ended = waitpid(worker->process, status, WNOHANG);
    if (ended == worker->process) return 1;
    if (ended < 0 && errno == ECHILD) return -1;
    int64_t left = end - now_ms();
    if (left <= 0) return 0;
    struct pollfd event = {.fd = worker->process_descriptor, .events = POLLIN};
    int has_descriptor = worker->process_descriptor >= 0;
    poll(&event, has_descriptor ? 1 : 0, !has_descriptor && left > LOOK_MS ? LOOK_MS : (int)left);
  }
}

void tureen_worker_close(tureen_worker *worker) {
  close_one(&worker->socket);
  close_one(&worker->output);
  close_one(&worker->errors);
  close_one(&worker->words);
  close_one(&worker->process_descriptor);
}

int tureen_worker_words(const tureen_worker *worker, tureen_last_words *words) {
  return read(worker->words, words, sizeof *words) == (ssize_t)sizeof *words;
}

int tureen_wait_signal(int status, int *number) {
  *number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return WIFSIGNALED(status);
}
