/* Stands in for tureen-worker after a script has taken it over: sends what the script's text says, line by line.
 *
 *   ready LAYERS | frame KIND NUMBER A B C LENGTH [TEXT] | raw TEXT | flood COUNT | close | spin | stop | exit STATUS
 *   trap NUMBER
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tureen_isolation.h"

static void send_all(const void *bytes, size_t size) {
  for (const char *p = bytes; size > 0;) {
    ssize_t count = write(TUREEN_WORKER_SOCKET, p, size);
    if (count <= 0) _exit(3);
    p += count;
    size -= (size_t)count;
  }
}

static void send_frame(uint32_t kind, int64_t number, uint32_t a, uint32_t b, uint32_t c, uint32_t length, const char *text) {
  const tureen_frame frame = {length, kind, number, {a, b, c, 0}};
  send_all(&frame, sizeof frame);
  if (text != NULL) send_all(text, strlen(text));
}

static void read_all(void *into, size_t size) {
  for (char *p = into; size > 0;) {
    ssize_t count = read(TUREEN_WORKER_SOCKET, p, size);
    if (count <= 0) _exit(4);
    p += count;
    size -= (size_t)count;
  }
}

static char *receive(tureen_frame *frame) {
  read_all(frame, sizeof *frame);
  char *body = calloc(frame->length + 1, 1);
  read_all(body, frame->length);
  return body;
}

static void run_line(const char *line) {
  long long n[6];
  int at = 0;
  if (sscanf(line, "frame %lld %lld %lld %lld %lld %lld%n", n, n + 1, n + 2, n + 3, n + 4, n + 5, &at) == 6)
    send_frame((uint32_t)n[0], n[1], (uint32_t)n[2], (uint32_t)n[3], (uint32_t)n[4], (uint32_t)n[5],
               line[at] == ' ' ? line + at + 1 : NULL);
  else if (strncmp(line, "raw ", 4) == 0) send_all(line + 4, strlen(line + 4));
  else if (sscanf(line, "flood %lld", n) == 1) /* calls whose answers nobody takes */
    for (long long i = 1; i <= n[0]; i++) send_frame(TUREEN_FRAME_CALL, i, 0, 4, 1, 26, "echox{\"text\":\"0123456789\"}");
  else if (strcmp(line, "close") == 0) close(TUREEN_WORKER_SOCKET);
  else if (strcmp(line, "spin") == 0) for (;;) getpid();
  else if (strcmp(line, "stop") == 0) raise(SIGSTOP);
  else if (sscanf(line, "exit %lld", n) == 1) _exit((int)n[0]);
  else if (sscanf(line, "trap %lld", n) == 1) {
    const tureen_last_words words = {TUREEN_WORDS_SYSTEM_CALL, (uint32_t)n[0]};
    if (write(TUREEN_WORKER_WORDS, &words, sizeof words) < 0) _exit(5);
    _exit(1);
  }
}

int main(void) {
  tureen_frame frame;
  signal(SIGTERM, SIG_IGN);
  free(receive(&frame));
  send_frame(TUREEN_FRAME_READY, LAYERS, 0, 0, 0, 0, NULL);
  char *body = receive(&frame);
  for (char *line = strtok(body + frame.part[0] + frame.part[1], "\n"); line != NULL; line = strtok(NULL, "\n")) run_line(line);
  for (;;) pause();
}
