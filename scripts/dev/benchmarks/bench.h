/* What the benchmark's programs share: clocks, figures of a process, and the end on an error. */
#ifndef BENCH_H
#define BENCH_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double bench_clock(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds of wall time, from some fixed point. */
static inline double bench_wall(void) { return bench_clock(CLOCK_MONOTONIC); }

/* Ends the program: a benchmark has nobody to hand an error to. */
__attribute__((noreturn, format(printf, 1, 2))) static inline void bench_die(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("bench: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(1);
}

static inline void *bench_realloc(void *old, size_t size) {
  void *block = realloc(old, size ? size : 1);
  if (!block) bench_die("out of memory");
  return block;
}

/* Bytes that grow. `bytes[length]` is always there to be written. */
typedef struct {
  char *bytes;
  size_t length, capacity;
} bench_buffer;

static inline void bench_reserve(bench_buffer *b, size_t more) {
  if (b->length + more + 1 <= b->capacity) return;
  b->capacity = (b->length + more + 1) * 2;
  b->bytes = bench_realloc(b->bytes, b->capacity);
}

static inline void bench_append(bench_buffer *b, const char *bytes, size_t count) {
  bench_reserve(b, count);
  memcpy(b->bytes + b->length, bytes, count);
  b->length += count;
}

static inline void bench_append_text(bench_buffer *b, const char *text) { bench_append(b, text, strlen(text)); }

__attribute__((format(printf, 2, 3))) static inline void bench_appendf(bench_buffer *b, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (n < 0 || (size_t)n >= sizeof text) bench_die("a piece of text is too long");
  bench_append(b, text, (size_t)n);
}

#endif
