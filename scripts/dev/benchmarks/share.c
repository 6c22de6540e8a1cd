/* A library to preload: how much of a process's CPU time is spent inside SQLite, the kernel's part included.
 *
 * It stands in front of SQLite's calls that do work, reads the thread's CPU clock before and after, and at the end writes
 * `inside total` in seconds to the file that BENCH_SHARE names. Reading the clock costs time as well: that is measured once
 * and taken off, and these runs are not the ones whose CPU time is reported. */
#include "bench.h"

#include <dlfcn.h>
#include <sqlite3.h>
#include <stdatomic.h>

static atomic_llong inside_ns, clock_reads;
static _Thread_local int depth;

static long long thread_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long enter(void) { return depth++ ? 0 : thread_ns(); }

static void leave(long long start) {
  if (--depth) return;
  atomic_fetch_add_explicit(&inside_ns, thread_ns() - start, memory_order_relaxed);
  atomic_fetch_add_explicit(&clock_reads, 2, memory_order_relaxed);
}

/* Defines `name` as the real one with the clock around it. */
#define TIMED(name, parameters, arguments)                       \
  int name parameters {                                          \
    static int(*_Atomic real) parameters;                        \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name);        \
    long long start = enter();                                   \
    int result = real arguments;                                 \
    leave(start);                                                \
    return result;                                               \
  }

TIMED(sqlite3_step, (sqlite3_stmt * s), (s))
TIMED(sqlite3_reset, (sqlite3_stmt * s), (s))
TIMED(sqlite3_finalize, (sqlite3_stmt * s), (s))
TIMED(sqlite3_close, (sqlite3 * db), (db))
TIMED(sqlite3_close_v2, (sqlite3 * db), (db))
TIMED(sqlite3_exec, (sqlite3 * db, const char *sql, int (*row)(void *, int, char **, char **), void *c, char **e),
      (db, sql, row, c, e))
TIMED(sqlite3_prepare_v2, (sqlite3 * db, const char *sql, int n, sqlite3_stmt **s, const char **t), (db, sql, n, s, t))
TIMED(sqlite3_prepare_v3, (sqlite3 * db, const char *sql, int n, unsigned f, sqlite3_stmt **s, const char **t),
      (db, sql, n, f, s, t))
TIMED(sqlite3_open_v2, (const char *path, sqlite3 **db, int flags, const char *vfs), (path, db, flags, vfs))
TIMED(sqlite3_wal_checkpoint_v2, (sqlite3 * db, const char *name, int mode, int *log, int *done),
      (db, name, mode, log, done))

/* Seconds one reading of the clock takes. */
static double clock_cost(void) {
  enum { READS = 20000 };
  double start = bench_clock(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < READS; i++) thread_ns();
  return (bench_clock(CLOCK_THREAD_CPUTIME_ID) - start) / READS;
}

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("BENCH_SHARE");
  FILE *out = path ? fopen(path, "w") : NULL;
  if (!out) return;
  double reads = (double)atomic_load(&clock_reads), total = bench_clock(CLOCK_PROCESS_CPUTIME_ID), cost = clock_cost();
  /* Of the two readings around a call, one lies about half inside on each side. */
  fprintf(out, "%.4f %.4f\n", (double)atomic_load(&inside_ns) * 1e-9 - reads / 2 * cost, total - reads * cost);
  fclose(out);
}
