/* reader DIRECTORY SOUP FILE: another process that reads a soup while it is being synced.
 *
 * Waits until some store under DIRECTORY has SOUP, then reads one entry by its entry id about every two milliseconds until
 * it gets SIGTERM, and writes `reads median longest` to FILE, in milliseconds from asking to having the text. */
#include "bench.h"

#include <ftw.h>
#include <signal.h>
#include <sqlite3.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;
static const char *wanted_soup;
static sqlite3 *db;
static char table[64];

static void stop(int signal_number) {
  (void)signal_number;
  stopped = 1;
}

static void pause_ms(long ms) { nanosleep(&(struct timespec){0, ms * 1000000}, NULL); }

/* 1 when the file is a store that has the soup; it then stays open. */
static int try_file(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)walk;
  if (type != FTW_F || info->st_size < 4096) return 0;
  sqlite3_stmt *soup = NULL;
  if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
      sqlite3_prepare_v2(db, "SELECT id FROM soup_attrs WHERE soupName=?", -1, &soup, NULL) == SQLITE_OK) {
    sqlite3_bind_text(soup, 1, wanted_soup, -1, SQLITE_STATIC);
    if (sqlite3_step(soup) == SQLITE_ROW) snprintf(table, sizeof table, "TABLE_%lld", sqlite3_column_int64(soup, 0));
  }
  sqlite3_finalize(soup);
  if (table[0]) return 1;
  sqlite3_close(db);
  db = NULL;
  return 0;
}

static sqlite3_stmt *prepare(const char *format) {
  char sql[256];
  sqlite3_stmt *statement;
  snprintf(sql, sizeof sql, format, table);
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL)) bench_die("%s: %s", sql, sqlite3_errmsg(db));
  return statement;
}

/* The highest entry id there is. */
static sqlite3_int64 last_entry(sqlite3_stmt *statement) {
  int code = sqlite3_step(statement);
  sqlite3_int64 id = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
  if (code != SQLITE_ROW) bench_die("reading: %s", sqlite3_errmsg(db));
  sqlite3_reset(statement);
  return id;
}

static void read_entry(sqlite3_stmt *statement, sqlite3_int64 id) {
  sqlite3_bind_int64(statement, 1, id);
  int code = sqlite3_step(statement);
  if (code == SQLITE_ROW && sqlite3_column_bytes(statement, 0) == 0) bench_die("entry %lld is empty", (long long)id);
  if (code != SQLITE_ROW && code != SQLITE_DONE) bench_die("reading: %s", sqlite3_errmsg(db));
  sqlite3_reset(statement);
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  if (argc != 4) bench_die("usage: reader DIRECTORY SOUP FILE");
  signal(SIGTERM, stop);
  wanted_soup = argv[2];
  while (!stopped && nftw(argv[1], try_file, 16, FTW_PHYS) != 1) pause_ms(5);
  if (!db) return 0;
  sqlite3_stmt *last = prepare("SELECT coalesce(max(id), 0) FROM %s");
  sqlite3_stmt *entry = prepare("SELECT soup FROM %s WHERE id=?");
  double *waits = NULL;
  size_t count = 0, capacity = 0;
  for (unsigned seed = 1; !stopped; pause_ms(2)) {
    double start = bench_wall();
    sqlite3_int64 highest = last_entry(last);
    if (highest > 0) read_entry(entry, (sqlite3_int64)(rand_r(&seed) % highest) + 1);
    if (count == capacity) waits = bench_realloc(waits, (capacity = capacity * 2 + 4096) * sizeof *waits);
    waits[count++] = (bench_wall() - start) * 1000;
  }
  FILE *out = fopen(argv[3], "w");
  if (!out) bench_die("cannot write %s", argv[3]);
  qsort(waits, count, sizeof *waits, compare);
  fprintf(out, "%zu %.3f %.3f\n", count, count ? waits[count / 2] : 0.0, count ? waits[count - 1] : 0.0);
  fclose(out);
  return 0;
}
