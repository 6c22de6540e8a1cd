// SQLite's LIKE and GLOB with the same results, which end when the statement has to, and json_patch with a bound. SQLite's own
// take the product of both lengths, and a query cannot be interrupted inside a function. For the headers of CSQLite and
// CSQLCipher, behind SQLite's own. Source of the behaviour: https://sqlite.org/lang_expr.html, src/func.c.
#ifndef TUREEN_SQLITE_MATCHING_H
#define TUREEN_SQLITE_MATCHING_H

#include <stdint.h>
#include <string.h>

// Asks whether the running statement may continue. Shared by the functions of one connection, which frees it.
typedef struct csqlite_watch {
  int (*allows)(void *context);  // NULL: it may
  void *context;
  int matches_blobs;  // whether this build of SQLite takes a blob for a text in LIKE and GLOB
} csqlite_watch;

// Steps of a comparison between two questions: some 50 microseconds. Products of the sizes from which json_patch, which looks
// for each member of the patch among all of the target, refuses to work: half a second.
enum { CSQLITE_STEPS = 16384 };
static const double CSQLITE_PATCH = 1e10;

typedef struct csqlite_pattern {
  uint32_t any, one, set, escape;  // 0: the pattern has none
  int folds;                       // whether the case of ASCII letters is the same
} csqlite_pattern;

// The next character, as SQLite reads text that may be damaged; 0 at the end.
static inline uint32_t csqlite_read(const unsigned char **text) {
  uint32_t c = *(*text)++;
  if (c < 0xc0) return c;
  c = c < 0xe0 ? c & 0x1f : c < 0xf0 ? c & 0x0f : c < 0xf8 ? c & 0x07 : c < 0xfc ? c & 0x03 : c < 0xfe ? c & 0x01 : 0;
  while ((**text & 0xc0) == 0x80) c = (c << 6) + (0x3f & *(*text)++);
  return c < 0x80 || (c & 0xfffff800) == 0xd800 || (c & 0xfffffffe) == 0xfffe ? 0xfffd : c;
}

static inline uint32_t csqlite_fold(uint32_t c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

// Whether a character is in the set that begins at the pattern, which then is behind the set; -1 for a set without an end.
static inline int csqlite_in_set(const unsigned char **pattern, uint32_t c) {
  uint32_t prior = 0, p = csqlite_read(pattern);
  int seen = 0, inverts = p == '^';
  if (inverts) p = csqlite_read(pattern);
  if (p == ']') {
    seen = c == ']';
    p = csqlite_read(pattern);
  }
  while (p && p != ']') {
    if (p == '-' && **pattern != ']' && **pattern != 0 && prior > 0) {
      p = csqlite_read(pattern);
      if (c >= prior && c <= p) seen = 1;
      prior = 0;
    } else {
      if (c == p) seen = 1;
      prior = p;
    }
    p = csqlite_read(pattern);
  }
  return p == 0 ? -1 : seen ^ inverts;
}

// Whether one character of the text, which is not at its end, matches at the pattern; both then are behind it. -1 if no text
// matches what is there, such as an escape with nothing behind it.
static inline int csqlite_matches_one(const unsigned char **pattern, const unsigned char **text, const csqlite_pattern *kind) {
  uint32_t p = csqlite_read(pattern);
  int is_escaped = kind->escape && p == kind->escape;
  if (is_escaped && (p = csqlite_read(pattern)) == 0) return -1;
  uint32_t c = csqlite_read(text);
  if (kind->set && p == kind->set) return csqlite_in_set(pattern, c);
  if (p == c || (kind->one && p == kind->one && !is_escaped)) return 1;
  return kind->folds && p < 0x80 && c < 0x80 && csqlite_fold(p) == csqlite_fold(c);
}

// Returns 1, 0, or -1 if the statement must not continue. Only the last "any" needs to be tried with more of the text.
static inline int csqlite_matches(const unsigned char *pattern, const unsigned char *text, const csqlite_pattern *kind,
                                  const csqlite_watch *watch) {
  const unsigned char *rest = NULL, *skipped = NULL;
  for (int64_t steps = 1;; steps++) {
    if (steps % CSQLITE_STEPS == 0 && watch->allows && !watch->allows(watch->context)) return -1;
    const unsigned char *next = pattern;
    uint32_t p = csqlite_read(&next);
    if (kind->any && p == kind->any) {
      pattern = rest = next;
      skipped = text;
      if (*rest == 0) return 1;
      continue;
    }
    int matches = 0;
    if (p == 0) {
      if (*text == 0) return 1;
    } else {
      if (*text == 0) return 0;
      matches = csqlite_matches_one(&pattern, &text, kind);
      if (matches < 0) return 0;
    }
    if (matches) continue;
    if (!rest || *skipped == 0) return 0;
    csqlite_read(&skipped);
    pattern = rest;
    text = skipped;
  }
}

static inline void csqlite_like(sqlite3_context *context, int count, sqlite3_value **values, int is_glob) {
  const csqlite_watch *watch = (const csqlite_watch *)sqlite3_user_data(context);
  csqlite_pattern kind = is_glob ? (csqlite_pattern){'*', '?', '[', 0, 0} : (csqlite_pattern){'%', '_', 0, 0, 1};
  sqlite3 *database = sqlite3_context_db_handle(context);
  int has_blob = sqlite3_value_type(values[0]) == SQLITE_BLOB || sqlite3_value_type(values[1]) == SQLITE_BLOB;
  if (has_blob && !watch->matches_blobs) return sqlite3_result_int(context, 0);
  if (sqlite3_value_bytes(values[0]) > sqlite3_limit(database, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1))
    return sqlite3_result_error(context, "LIKE or GLOB pattern too complex", -1);
  if (count == 3) {
    const unsigned char *escape = sqlite3_value_text(values[2]);
    if (!escape) return;
    const unsigned char *end = escape;
    kind.escape = csqlite_read(&end);
    if (kind.escape == 0 || end - escape != sqlite3_value_bytes(values[2]))
      return sqlite3_result_error(context, "ESCAPE expression must be a single character", -1);
    if (kind.escape == kind.any) kind.any = 0;
    if (kind.escape == kind.one) kind.one = 0;
  }
  const unsigned char *pattern = sqlite3_value_text(values[0]), *text = sqlite3_value_text(values[1]);
  if (!pattern || !text) return;
  int matches = csqlite_matches(pattern, text, &kind, watch);
  if (matches < 0) return sqlite3_result_error_code(context, SQLITE_INTERRUPT);
  sqlite3_result_int(context, matches);
}

static inline void csqlite_like_function(sqlite3_context *context, int count, sqlite3_value **values) {
  csqlite_like(context, count, values, 0);
}
static inline void csqlite_glob_function(sqlite3_context *context, int count, sqlite3_value **values) {
  csqlite_like(context, count, values, 1);
}

// SQLite's own, in a database of its own that has it.
static inline void csqlite_patch(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  sqlite3_stmt *statement = (sqlite3_stmt *)sqlite3_user_data(context);
  if ((double)sqlite3_value_bytes(values[0]) * (double)sqlite3_value_bytes(values[1]) > CSQLITE_PATCH)
    return sqlite3_result_error_toobig(context);
  int code = sqlite3_bind_value(statement, 1, values[0]);
  if (code == SQLITE_OK) code = sqlite3_bind_value(statement, 2, values[1]);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  if (code == SQLITE_ROW) {
    sqlite3_result_value(context, sqlite3_column_value(statement, 0));
    sqlite3_result_subtype(context, 'J');
  } else if (code == SQLITE_ERROR) {
    sqlite3_result_error(context, sqlite3_errmsg(sqlite3_db_handle(statement)), -1);
  } else {
    sqlite3_result_error_code(context, code);
  }
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
}

static inline void csqlite_close_patch(void *statement) {
  sqlite3 *database = sqlite3_db_handle((sqlite3_stmt *)statement);
  sqlite3_finalize((sqlite3_stmt *)statement);
  sqlite3_close(database);
}

static inline int csqlite_use_bounded_patch(sqlite3 *database) {
  sqlite3 *other = NULL;
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_open_v2(":memory:", &other, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
  if (code == SQLITE_OK) code = sqlite3_prepare_v2(other, "SELECT json_patch(?1, ?2)", -1, &statement, NULL);
  if (code != SQLITE_OK) {
    sqlite3_close(other);
    return code;
  }
  int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
#ifdef SQLITE_RESULT_SUBTYPE
  flags |= SQLITE_RESULT_SUBTYPE;
#endif
  // The destructor is called if this fails, too.
  return sqlite3_create_function_v2(database, "json_patch", 2, flags, statement, csqlite_patch, NULL, NULL, csqlite_close_patch);
}

static inline int csqlite_matches_blobs(sqlite3 *database, int *matches) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(database, "SELECT x'61' LIKE 'a'", -1, &statement, NULL);
  if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) *matches = sqlite3_column_int(statement, 0);
  int end = sqlite3_finalize(statement);
  return code == SQLITE_OK ? end : code;
}

// Replaces the functions of a connection. Sets the watch, which belongs to the connection. Returns an SQLite result code.
static inline int csqlite_use_watched_functions(sqlite3 *database, csqlite_watch **made) {
  csqlite_watch *watch = (csqlite_watch *)sqlite3_malloc64(sizeof *watch);
  if (!watch) return SQLITE_NOMEM;
  watch->allows = NULL;
  watch->context = NULL;
  watch->matches_blobs = 1;
  int asked = csqlite_matches_blobs(database, &watch->matches_blobs);
  if (asked != SQLITE_OK) {
    sqlite3_free(watch);
    return asked;
  }
  int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  // One of them frees it when the connection closes.
  int code = sqlite3_create_function_v2(database, "like", 2, flags, watch, csqlite_like_function, NULL, NULL, sqlite3_free);
  if (code != SQLITE_OK) return code;
  *made = watch;
  code = sqlite3_create_function_v2(database, "like", 3, flags, watch, csqlite_like_function, NULL, NULL, NULL);
  if (code == SQLITE_OK)
    code = sqlite3_create_function_v2(database, "glob", 2, flags, watch, csqlite_glob_function, NULL, NULL, NULL);
  return code == SQLITE_OK ? csqlite_use_bounded_patch(database) : code;
}

#endif
