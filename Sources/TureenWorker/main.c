/* tureen-worker: runs one sandboxed Lua state, whose bridge is in the parent process. Only Tureen starts it. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "worker.h"

/* The maximum size in bytes of the message that a script ends with. */
#define MESSAGE_MOST (64u << 10)

static char output_buffer[BUFSIZ], error_buffer[BUFSIZ];

static void refused_system_call(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  channel_end(TUREEN_WORDS_SYSTEM_CALL, (uint32_t)info->si_syscall);
}

static void interrupted(int signal) {
  (void)signal;
  channel_interrupt();
  tureen_break_ask_here();
}

static void handle_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  sigfillset(&action.sa_mask);
  action.sa_sigaction = refused_system_call;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, NULL);
  action.sa_handler = interrupted;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, NULL);
  signal(SIGPIPE, SIG_IGN);
}

/* Sends the last frame and ends the process. */
static _Noreturn void done(int64_t status, struct lua_State *L, tureen_bytes message) {
  fflush(NULL);
  tureen_frame frame = {.kind = TUREEN_FRAME_DONE, .number = status};
  const char *failure = L == NULL ? "" : tureen_state_failure(L);
  frame.part[0] = (uint32_t)((L == NULL ? -1 : tureen_state_exit_status(L)) + 1);
  frame.part[1] = (uint32_t)(L == NULL ? 0 : tureen_state_limit(L));
  frame.part[2] = (uint32_t)strlen(failure);
  frame.part[3] = L != NULL && tureen_break_happened(L);
  if (message.length > MESSAGE_MOST) message.length = MESSAGE_MOST;
  const tureen_bytes pieces[] = {{(char *)failure, frame.part[2]}, message};
  channel_send(&frame, pieces, 2);
  _exit(0);
}

/* Returns the next string of the script's frame, which ends with a zero byte. Ends the process if there is none. */
static const char *next_string(const char **p, const char *end) {
  const char *start = *p, *zero = memchr(start, 0, (size_t)(end - start));
  if (zero == NULL) _exit(1);
  *p = zero + 1;
  return start;
}

/* Runs the script that the host sends next, and ends the process. */
static _Noreturn void run_script(struct lua_State *L) {
  tureen_frame frame;
  tureen_bytes body, error = {NULL, 0};
  channel_receive(TUREEN_FRAME_SCRIPT, &frame, &body);
  size_t head = (size_t)frame.part[0] + frame.part[1], count = frame.part[2];
  if (head > body.length || count > frame.part[1]) _exit(1);
  const char *p = body.data, *end = body.data + head;
  const char *path = next_string(&p, end);
  const char **arguments = calloc(count + 1, sizeof *arguments);
  if (arguments == NULL) channel_end(TUREEN_WORDS_MEMORY, 0);
  for (size_t i = 0; i < count; i++) arguments[i] = next_string(&p, end);
  int status = tureen_state_run_script(L, path, body.data + head, body.length - head, (int)count, arguments, &error);
  done(status, L, error);
}

/* Makes the C library read its files while the process still may. */
static void warm_up(void) {
  time_t now = time(NULL);
  struct tm parts;
  tzset();
  localtime_r(&now, &parts);
  setvbuf(stdout, output_buffer, _IOFBF, sizeof output_buffer);
  setvbuf(stderr, error_buffer, _IOLBF, sizeof error_buffer);
}

/* Returns the highest open descriptor. The bridge and the channel have opened theirs without gaps. */
static int last_descriptor(void) {
  int copy = dup(STDIN_FILENO);
  close(copy);
  return copy - 1;
}

int main(void) {
  int type = 0;
  socklen_t size = sizeof type;
  if (getsockopt(TUREEN_WORKER_SOCKET, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) {
    fputs("tureen-worker: `tureen run --isolated` starts this program\n", stderr);
    return 64;
  }
  wall_close_descriptors(TUREEN_WORKER_WORDS + 1); /* what the host may have left open */
  tureen_frame frame;
  tureen_bytes body, error = {NULL, 0};
  if (chdir("/") != 0 || !channel_open(TUREEN_WORKER_SOCKET, TUREEN_WORKER_WORDS)) return 1;
  channel_receive(TUREEN_FRAME_SETUP, &frame, &body);
  tureen_worker_setup setup;
  if (body.length != sizeof setup) return 1;
  memcpy(&setup, body.data, sizeof setup);
  free(body.data);
  const tureen_limits limits = {setup.memory_bytes, setup.instructions, setup.time_ms, 1};
  struct lua_State *L = tureen_state_open(&worker_host, &limits, &error);
  if (L == NULL) done(TUREEN_DONE_NOT_BEGUN, NULL, error);
  tureen_break_watch(L);
  handle_signals();
  warm_up();
  tureen_frame ready = {.kind = TUREEN_FRAME_READY, .number = wall_in(&setup, last_descriptor())};
  channel_send(&ready, NULL, 0);
  run_script(L);
}
