/* bare URL [DATABASE [replace]]: the least work that a sync down of contacts can be, to measure the host against. Without a
 * database it fetches only.
 *
 * libcurl fetches a page, scan.h slices it, SQLite gets each record's text with the local fields spliced in front, the same
 * text and the same five indexes as a soup's. An empty table: plain INSERTs, the indexes afterwards. A full one: each record
 * is found by its Id; an UPDATE names only the columns that differ, or with `replace` the row is written anew by INSERT OR
 * REPLACE, as most programs do. One transaction a page, pages of 8 KB, a cache of 16 MB. */
#include "bench.h"
#include "scan.h"

#include <curl/curl.h>
#include <sqlite3.h>

enum { COLUMNS = 5 }; /* c0 Id, c1 LastName, c2 AccountId, c3 __local__, c4 __sync_id__ */

typedef struct {
  sqlite3 *db;
  sqlite3_stmt *insert, *find, *update[1 << COLUMNS];
  int replaces;
  int64_t next_id, stamp;
  bench_buffer text, scratch;
} store;

static void run_sql(sqlite3 *db, const char *sql) {
  char *message = NULL;
  if (sqlite3_exec(db, sql, NULL, NULL, &message)) bench_die("%s: %s", sql, message ? message : "failed");
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL))
    bench_die("%s: %s", sql, sqlite3_errmsg(db));
  return statement;
}

static void finish(store *s, sqlite3_stmt *statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) bench_die("step: %s", sqlite3_errmsg(s->db));
  sqlite3_reset(statement);
}

static void make_indexes(store *s) {
  run_sql(s->db, "BEGIN IMMEDIATE");
  for (int i = 0; i < COLUMNS; i++) {
    char sql[96];
    snprintf(sql, sizeof sql, "CREATE INDEX IF NOT EXISTS soup_c%d ON soup (c%d)", i, i);
    run_sql(s->db, sql);
  }
  run_sql(s->db, "COMMIT");
}

static void open_store(store *s, const char *path) {
  if (sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL))
    bench_die("cannot open %s", path);
  run_sql(s->db, "PRAGMA page_size=8192; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-16384;"
                 "PRAGMA wal_autocheckpoint=2000; PRAGMA temp_store=MEMORY;"
                 "CREATE TABLE IF NOT EXISTS soup (id INTEGER PRIMARY KEY AUTOINCREMENT, soup TEXT, created INTEGER,"
                 " lastModified INTEGER, c0 TEXT, c1 TEXT, c2 TEXT, c3 TEXT, c4 INTEGER)");
  sqlite3_stmt *last = prepare(s->db, "SELECT coalesce(max(id), 0) FROM soup");
  sqlite3_step(last);
  s->next_id = sqlite3_column_int64(last, 0) + 1;
  sqlite3_finalize(last);
  char sql[160];
  snprintf(sql, sizeof sql, "INSERT%s INTO soup (id, soup, created, lastModified, c0, c1, c2, c3, c4)"
                            " VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7, ?8)", s->replaces ? " OR REPLACE" : "");
  s->insert = prepare(s->db, sql);
}

static void append_number(bench_buffer *b, int64_t number) {
  char digits[24], *p = digits + sizeof digits;
  do *--p = (char)('0' + number % 10);
  while (number /= 10);
  bench_append(b, p, (size_t)(digits + sizeof digits - p));
}

#define APPEND_LITERAL(buffer, text) bench_append(buffer, text, sizeof text - 1)

/* The stored text: the local fields, then the record as it came. */
static bench_slice spliced(store *s, int64_t id, bench_slice record) {
  s->text.length = 0;
  APPEND_LITERAL(&s->text, "{\"_soupEntryId\":");
  append_number(&s->text, id);
  APPEND_LITERAL(&s->text, ",\"_soupLastModifiedDate\":");
  append_number(&s->text, s->stamp);
  APPEND_LITERAL(&s->text, ",\"__sync_id__\":1,\"__local__\":false,\"__locally_created__\":false,"
                           "\"__locally_updated__\":false,\"__locally_deleted__\":false,");
  bench_append(&s->text, record.bytes + 1, record.length - 1);
  return (bench_slice){s->text.bytes, s->text.length};
}

static void bind_text(sqlite3_stmt *statement, int at, bench_slice text) {
  sqlite3_bind_text(statement, at, text.bytes ? text.bytes : "", (int)text.length, SQLITE_STATIC);
}

static void insert_record(store *s, int64_t id, const bench_record *r, bench_slice last_name) {
  sqlite3_bind_int64(s->insert, 1, id);
  bind_text(s->insert, 2, spliced(s, id, r->text));
  sqlite3_bind_int64(s->insert, 3, s->stamp);
  bind_text(s->insert, 4, r->fields[FIELD_ID]);
  bind_text(s->insert, 5, last_name);
  bind_text(s->insert, 6, r->fields[FIELD_ACCOUNT]);
  bind_text(s->insert, 7, (bench_slice){"false", 5});
  sqlite3_bind_int64(s->insert, 8, 1);
  finish(s, s->insert);
}

static int differs(sqlite3_stmt *statement, int column, bench_slice value) {
  const unsigned char *stored = sqlite3_column_text(statement, column);
  size_t length = (size_t)sqlite3_column_bytes(statement, column);
  return length != value.length || (length > 0 && memcmp(stored, value.bytes, length) != 0);
}

/* The UPDATE of the columns in `changed`, a bit for each of c1...c4. */
static sqlite3_stmt *update_statement(store *s, unsigned changed) {
  if (s->update[changed]) return s->update[changed];
  char sql[256] = "UPDATE soup SET soup=?2, lastModified=?3";
  for (int i = 1; i < COLUMNS; i++)
    if (changed >> i & 1) snprintf(sql + strlen(sql), sizeof sql - strlen(sql), ", c%d=?%d", i, i + 4);
  strcat(sql, " WHERE id=?1");
  return s->update[changed] = prepare(s->db, sql);
}

static void store_record(store *s, const bench_record *r) {
  bench_slice last_name = scan_unescape(r->fields[FIELD_LAST_NAME], &s->scratch);
  int64_t id = 0;
  unsigned changed = 0;
  bind_text(s->find, 1, r->fields[FIELD_ID]);
  if (sqlite3_step(s->find) == SQLITE_ROW) {
    id = sqlite3_column_int64(s->find, 0);
    changed |= (unsigned)differs(s->find, 1, last_name) << 1;
    changed |= (unsigned)differs(s->find, 2, r->fields[FIELD_ACCOUNT]) << 2;
    changed |= (unsigned)differs(s->find, 3, (bench_slice){"false", 5}) << 3;
    changed |= (unsigned)(sqlite3_column_int64(s->find, 4) != 1) << 4;
  }
  sqlite3_reset(s->find);
  if (id == 0 || s->replaces) {
    insert_record(s, id ? id : s->next_id++, r, last_name);
    return;
  }
  sqlite3_stmt *update = update_statement(s, changed);
  sqlite3_bind_int64(update, 1, id);
  bind_text(update, 2, spliced(s, id, r->text));
  sqlite3_bind_int64(update, 3, s->stamp);
  if (changed & 2) bind_text(update, 5, last_name);
  if (changed & 4) bind_text(update, 6, r->fields[FIELD_ACCOUNT]);
  if (changed & 8) bind_text(update, 7, (bench_slice){"false", 5});
  if (changed & 16) sqlite3_bind_int64(update, 8, 1);
  finish(s, update);
}

static void store_page(store *s, const bench_page *page) {
  s->stamp = (int64_t)(bench_clock(CLOCK_REALTIME) * 1000);
  run_sql(s->db, "BEGIN IMMEDIATE");
  for (size_t i = 0; i < page->count; i++) {
    const bench_record *r = &page->records[i];
    if (s->find) store_record(s, r);
    else insert_record(s, s->next_id++, r, scan_unescape(r->fields[FIELD_LAST_NAME], &s->scratch));
  }
  run_sql(s->db, "COMMIT");
}

static size_t receive(char *bytes, size_t size, size_t count, void *buffer) {
  bench_append(buffer, bytes, size * count);
  return size * count;
}

static void fetch(CURL *curl, const char *url, bench_buffer *body) {
  long status = 0;
  body->length = 0;
  curl_easy_setopt(curl, CURLOPT_URL, url);
  CURLcode code = curl_easy_perform(curl);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (code != CURLE_OK || status != 200) bench_die("%s: %s, status %ld", url, curl_easy_strerror(code), status);
  bench_reserve(body, 8);
  memset(body->bytes + body->length, 0, 8);
}

/* Fetches all pages, one after the other, and stores them unless `s` is null. Returns how many records came. */
static size_t sync_down(const char *server, store *s) {
  CURL *curl = curl_easy_init();
  bench_buffer body = {0};
  bench_page page = {0};
  if (!curl) bench_die("libcurl does not start");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 262144L);
  curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "gzip");
  char url[4096];
  snprintf(url, sizeof url, "%s/services/data/v66.0/query?q=SELECT+Id+FROM+Contact", server);
  size_t records = 0;
  do {
    fetch(curl, url, &body);
    scan_page(body.bytes, body.length, &page);
    snprintf(url, sizeof url, "%s%.*s", server, (int)page.next.length, page.next.length ? page.next.bytes : "");
    if (s) store_page(s, &page);
    records += page.count;
  } while (page.next.length > 0);
  curl_easy_cleanup(curl);
  return records;
}

static size_t sync_into(const char *server, const char *path, int replaces) {
  store s = {.replaces = replaces};
  open_store(&s, path);
  int is_first_load = s.next_id == 1;
  if (!is_first_load) s.find = prepare(s.db, "SELECT id, c1, c2, c3, c4 FROM soup WHERE c0=?");
  size_t records = sync_down(server, &s);
  if (is_first_load) make_indexes(&s);
  for (sqlite3_stmt *open; (open = sqlite3_next_stmt(s.db, NULL));) sqlite3_finalize(open);
  if (sqlite3_close(s.db)) bench_die("close: %s", sqlite3_errmsg(s.db));
  return records;
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 4) bench_die("usage: bare URL [DATABASE [replace]]");
  printf("{\"records\":%zu}\n", argc > 2 ? sync_into(argv[1], argv[2], argc > 3) : sync_down(argv[1], NULL));
  return 0;
}
