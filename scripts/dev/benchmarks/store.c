/* The C program beside `bench --store`: a soup's table with five indexes, written and read with prepared statements.
 *
 * usage: store FILE ROWS
 * Prints `name value` lines: CPU seconds of the first load, of as many random INSERT OR REPLACE, look-ups a second. */
#include <sqlite3.h>

#include "bench.h"

enum { BATCH = 1000 };

static sqlite3 *db;

static void run(const char *sql) {
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) bench_die("%s: %s", sql, sqlite3_errmsg(db));
}

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) bench_die("%s: %s", sql, sqlite3_errmsg(db));
  return statement;
}

/* The same record as store.lua makes; `round` tells an edited one from the first. */
static void write_row(sqlite3_stmt *insert, int n, int round) {
  char text[1024], id[32], last[32], account[32];
  snprintf(id, sizeof id, "003%015d", n);
  snprintf(last, sizeof last, "Name%d", (n * 7 + round) % 997);
  snprintf(account, sizeof account, "001%015d", n % 500);
  int length = snprintf(text, sizeof text,
      "{\"_soupEntryId\":%d,\"_soupLastModifiedDate\":1763715000000,\"attributes\":{\"type\":\"Contact\","
      "\"url\":\"/services/data/v66.0/sobjects/Contact/%s\"},\"Id\":\"%s\",\"FirstName\":\"Maria\",\"LastName\":\"%s\","
      "\"Email\":\"maria.%d@customer-example.com\",\"Phone\":\"(924) 555-8282\",\"Title\":\"Account Executive\","
      "\"Department\":\"Engineering\",\"MailingStreet\":\"%d Baker Street\",\"AccountId\":\"%s\","
      "\"Score__c\":%d.25,\"DoNotCall\":false,\"LastModifiedDate\":\"2026-01-01T00:00:%02d.000+0000\",\"__local__\":false,"
      "\"__locally_created__\":false,\"__locally_updated__\":false,\"__locally_deleted__\":false,\"__sync_id__\":1}",
      n, id, id, last, n, n + round, account, n % 1000, n % 60);
  sqlite3_bind_int(insert, 1, n);
  sqlite3_bind_text(insert, 2, text, length, SQLITE_STATIC);
  sqlite3_bind_text(insert, 3, id, -1, SQLITE_STATIC);
  sqlite3_bind_text(insert, 4, last, -1, SQLITE_STATIC);
  sqlite3_bind_text(insert, 5, account, -1, SQLITE_STATIC);
  if (sqlite3_step(insert) != SQLITE_DONE) bench_die("%s", sqlite3_errmsg(db));
  sqlite3_reset(insert);
}

static double write_all(int rows, int round) {
  sqlite3_stmt *insert = prepare(
      "INSERT OR REPLACE INTO t (id, soup, created, lastModified, c0, c1, c2, c3, c4) VALUES (?1, ?2, 1, 1, ?3, ?4, ?5, 'false', 1)");
  double from = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < rows; i++) {
    if (i % BATCH == 0) run("BEGIN IMMEDIATE");
    write_row(insert, round == 0 ? i + 1 : (int)((long long)i * 7919 % rows) + 1, round);
    if (i % BATCH == BATCH - 1 || i == rows - 1) run("COMMIT");
  }
  sqlite3_finalize(insert);
  return bench_clock(CLOCK_PROCESS_CPUTIME_ID) - from;
}

static double lookups(int rows, int count) {
  sqlite3_stmt *find = prepare("SELECT soup FROM t WHERE c0 = ?");
  double from = bench_wall();
  for (int i = 0; i < count; i++) {
    char id[32];
    snprintf(id, sizeof id, "003%015d", (int)((long long)i * 7919 % rows) + 1);
    sqlite3_bind_text(find, 1, id, -1, SQLITE_STATIC);
    if (sqlite3_step(find) != SQLITE_ROW || sqlite3_column_text(find, 0) == NULL) bench_die("a row is missing");
    sqlite3_reset(find);
  }
  sqlite3_finalize(find);
  return count / (bench_wall() - from);
}

int main(int argc, char **argv) {
  int rows = argc == 3 ? atoi(argv[2]) : 0;
  if (rows <= 0) bench_die("usage: store FILE ROWS");
  if (sqlite3_open(argv[1], &db) != SQLITE_OK) bench_die("%s: %s", argv[1], sqlite3_errmsg(db));
  run("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384");
  run("CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, soup TEXT, created INTEGER, lastModified INTEGER, c0 TEXT,"
      " c1 TEXT, c2 TEXT, c3 TEXT, c4 INTEGER)");
  run("CREATE INDEX i0 ON t (c0); CREATE INDEX i1 ON t (c1); CREATE INDEX i2 ON t (c2); CREATE INDEX i3 ON t (c3);"
      " CREATE INDEX i4 ON t (c4)");
  printf("c_new %.3f\n", write_all(rows, 0));
  printf("c_replace %.3f\n", write_all(rows, 1));
  printf("c_lookups %.0f\n", lookups(rows, 100000));
  sqlite3_close(db);
  return 0;
}
