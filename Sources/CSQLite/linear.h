// SQLite's instr, replace, trim, ltrim and rtrim with the same results in time that is linear in the length of the texts.
// SQLite's own take the product of both lengths, and a query cannot be interrupted inside a function. For the headers of CSQLite
// and CSQLCipher, behind SQLite's own. Source of the behaviour: https://sqlite.org/lang_corefunc.html.
#ifndef TUREEN_SQLITE_LINEAR_H
#define TUREEN_SQLITE_LINEAR_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// memmem is GNU's; C99 headers do not declare it.
extern void *memmem(const void *text, size_t text_length, const void *part, size_t part_length);

static inline int csqlite_continues(unsigned char byte) { return (byte & 0xc0) == 0x80; }

// Positions count from 1: bytes if both values are blobs, else characters. 0 if the part does not occur.
static inline sqlite3_int64 csqlite_position(const unsigned char *text, size_t length, const unsigned char *part,
                                             size_t part_length, int is_blob) {
  if (part_length == 0) return 1;
  if (part_length > length) return 0;
  const unsigned char *found;
  if (!is_blob && csqlite_continues(part[0])) {
    // Damaged text: characters are compared, and none but the first may begin like this.
    found = memcmp(text, part, part_length) == 0 ? text : NULL;
  } else {
    found = (const unsigned char *)memmem(text, length, part, part_length);
  }
  if (!found) return 0;
  if (is_blob) return found - text + 1;
  sqlite3_int64 position = 1;
  for (const unsigned char *p = text + 1; p <= found; p++) position += !csqlite_continues(*p);
  return position;
}

static inline void csqlite_instr(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  int first = sqlite3_value_type(values[0]), second = sqlite3_value_type(values[1]);
  if (first == SQLITE_NULL || second == SQLITE_NULL) return;
  int is_blob = first == SQLITE_BLOB && second == SQLITE_BLOB;
  // Reading a blob as text turns the value into one, and a constant has to stay as it is for the next row.
  int is_mixed = !is_blob && (first == SQLITE_BLOB || second == SQLITE_BLOB);
  sqlite3_value *text_value = is_mixed ? sqlite3_value_dup(values[0]) : values[0];
  sqlite3_value *part_value = is_mixed ? sqlite3_value_dup(values[1]) : values[1];
  if (text_value && part_value) {
    const unsigned char *text =
        is_blob ? (const unsigned char *)sqlite3_value_blob(text_value) : sqlite3_value_text(text_value);
    size_t length = (size_t)sqlite3_value_bytes(text_value);
    const unsigned char *part =
        is_blob ? (const unsigned char *)sqlite3_value_blob(part_value) : sqlite3_value_text(part_value);
    size_t part_length = (size_t)sqlite3_value_bytes(part_value);
    if ((length && !text) || (part_length && !part)) {
      sqlite3_result_error_nomem(context);
    } else {
      sqlite3_result_int64(context, csqlite_position(text, length, part, part_length, is_blob));
    }
  } else {
    sqlite3_result_error_nomem(context);
  }
  if (!is_mixed) return;
  sqlite3_value_free(text_value);
  sqlite3_value_free(part_value);
}

// A text that grows up to the connection's limit.
typedef struct csqlite_text {
  unsigned char *bytes;
  sqlite3_int64 length, capacity, most;
} csqlite_text;

// Returns 0, or SQLITE_TOOBIG or SQLITE_NOMEM.
static inline int csqlite_append(csqlite_text *text, const void *bytes, sqlite3_int64 count) {
  if (text->length + count > text->most) return SQLITE_TOOBIG;
  if (text->length + count > text->capacity) {
    sqlite3_int64 capacity = (text->length + count) * 2 < text->most ? (text->length + count) * 2 : text->most;
    unsigned char *grown = (unsigned char *)sqlite3_realloc64(text->bytes, (sqlite3_uint64)capacity + 1);
    if (!grown) return SQLITE_NOMEM;
    text->bytes = grown;
    text->capacity = capacity;
  }
  if (count) memcpy(text->bytes + text->length, bytes, (size_t)count);
  text->length += count;
  return 0;
}

static inline void csqlite_replace(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  const unsigned char *text = sqlite3_value_text(values[0]);
  sqlite3_int64 length = sqlite3_value_bytes(values[0]);
  const unsigned char *part = text ? sqlite3_value_text(values[1]) : NULL;
  if (!part) return;
  // An empty part, which one that begins with NUL counts as, occurs nowhere.
  if (part[0] == 0) {
    if (!sqlite3_user_data(context)) return sqlite3_result_value(context, values[0]);
    return sqlite3_result_text64(context, (const char *)text, (sqlite3_uint64)length, SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  sqlite3_int64 part_length = sqlite3_value_bytes(values[1]);
  const unsigned char *other = sqlite3_value_text(values[2]);
  if (!other) return;
  sqlite3_int64 other_length = sqlite3_value_bytes(values[2]);
  csqlite_text result = {NULL, 0, 0, sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1)};
  const unsigned char *rest = text, *end = text + length;
  int failure = csqlite_append(&result, "", 0);
  while (!failure) {
    const unsigned char *found = (const unsigned char *)memmem(rest, (size_t)(end - rest), part, (size_t)part_length);
    failure = csqlite_append(&result, rest, (found ? found : end) - rest);
    if (!found || failure) break;
    failure = csqlite_append(&result, other, other_length);
    rest = found + part_length;
  }
  if (failure) {
    sqlite3_free(result.bytes);
    if (failure == SQLITE_TOOBIG) return sqlite3_result_error_toobig(context);
    return sqlite3_result_error_nomem(context);
  }
  sqlite3_result_text64(context, result.bytes ? (const char *)result.bytes : "", (sqlite3_uint64)result.length,
                        result.bytes ? sqlite3_free : SQLITE_STATIC, SQLITE_UTF8);
}

// A character of a list to trim: its count of bytes and its bytes as a number, and its place in the list.
typedef struct csqlite_character {
  uint64_t bytes;
  sqlite3_int64 place;
} csqlite_character;

// The bytes of a list, which takes memory and has to be sorted; and those of the longest character, which only damaged text
// has: valid ones have four at most.
enum { CSQLITE_LIST = 65536, CSQLITE_LONGEST = 7 };

static inline uint64_t csqlite_number(const unsigned char *bytes, int count) {
  uint64_t number = (uint64_t)count;
  for (int i = 0; i < count; i++) number = number << 8 | bytes[i];
  return number;
}

static inline int csqlite_compare(const void *a, const void *b) {
  const csqlite_character *x = (const csqlite_character *)a, *y = (const csqlite_character *)b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
  return x->place < y->place ? -1 : x->place > y->place;
}

// The first of the sorted characters with these bytes; NULL if there is none.
static inline const csqlite_character *csqlite_find(uint64_t bytes, const csqlite_character *characters, size_t count) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (characters[middle].bytes < bytes) low = middle + 1; else high = middle;
  }
  return low < count && characters[low].bytes == bytes ? characters + low : NULL;
}

// The number of bytes at the start or the end of a text that one of the characters takes, the first in the list if there are
// several; 0 for none.
static inline int csqlite_matching(const unsigned char *text, sqlite3_int64 length, int at_end,
                                   const csqlite_character *characters, size_t count) {
  int result = 0;
  sqlite3_int64 place = 0;
  if (length <= 0) return 0;
  // A longer one begins with a lead byte and ends with another one.
  int is_single = at_end ? !csqlite_continues(text[length - 1]) : text[0] < 0xc0;
  for (int width = 1; width <= (is_single ? 1 : CSQLITE_LONGEST) && width <= length; width++) {
    const csqlite_character *found =
        csqlite_find(csqlite_number(at_end ? text + length - width : text, width), characters, count);
    if (!found || (result && found->place > place)) continue;
    result = width;
    place = found->place;
  }
  return result;
}

enum { CSQLITE_TRIM_LEFT = 1, CSQLITE_TRIM_RIGHT = 2 };

static inline void csqlite_trim_sides(sqlite3_context *context, int count, sqlite3_value **values, int sides) {
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
  const unsigned char *text = sqlite3_value_text(values[0]);
  if (!text) return sqlite3_result_error_nomem(context);
  sqlite3_int64 length = sqlite3_value_bytes(values[0]);
  const unsigned char *set = count == 1 ? (const unsigned char *)" " : sqlite3_value_text(values[1]);
  if (!set) return;
  if (count > 1 && sqlite3_value_bytes(values[1]) > CSQLITE_LIST)
    return sqlite3_result_error(context, "trim: the list of characters has more than 65536 bytes", -1);
  sqlite3_int64 set_length = (sqlite3_int64)strlen((const char *)set);  // as in SQLite, NUL ends the list
  csqlite_character *characters =
      (csqlite_character *)sqlite3_malloc64((sqlite3_uint64)(set_length + 1) * sizeof *characters);
  if (!characters) return sqlite3_result_error_nomem(context);
  size_t known = 0;
  for (sqlite3_int64 i = 0; i < set_length;) {
    sqlite3_int64 end = i + 1;
    if (set[i] >= 0xc0) while (end < set_length && csqlite_continues(set[end])) end++;
    if (end - i <= CSQLITE_LONGEST) {
      characters[known].bytes = csqlite_number(set + i, (int)(end - i));
      characters[known++].place = i;
    }
    i = end;
  }
  qsort(characters, known, sizeof *characters, csqlite_compare);
  int width;
  while (sides & CSQLITE_TRIM_LEFT && (width = csqlite_matching(text, length, 0, characters, known))) {
    text += width;
    length -= width;
  }
  while (sides & CSQLITE_TRIM_RIGHT && (width = csqlite_matching(text, length, 1, characters, known))) length -= width;
  sqlite3_free(characters);
  sqlite3_result_text64(context, (const char *)text, (sqlite3_uint64)length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline void csqlite_trim(sqlite3_context *context, int count, sqlite3_value **values) {
  csqlite_trim_sides(context, count, values, CSQLITE_TRIM_LEFT | CSQLITE_TRIM_RIGHT);
}
static inline void csqlite_ltrim(sqlite3_context *context, int count, sqlite3_value **values) {
  csqlite_trim_sides(context, count, values, CSQLITE_TRIM_LEFT);
}
static inline void csqlite_rtrim(sqlite3_context *context, int count, sqlite3_value **values) {
  csqlite_trim_sides(context, count, values, CSQLITE_TRIM_RIGHT);
}

// Tells whether SQLite's replace makes a text of a value that it leaves unchanged. Older versions, such as 3.40, give the value
// itself, so that a number stays one; newer ones, such as SQLCipher's 3.46, give its text. Returns an SQLite result code.
static inline int csqlite_replace_gives_text(sqlite3 *database, int *gives_text) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(database, "SELECT replace(1, '', '')", -1, &statement, NULL);
  if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
    *gives_text = sqlite3_column_type(statement, 0) == SQLITE_TEXT;
  int end = sqlite3_finalize(statement);
  return code == SQLITE_OK ? end : code;
}

// Replaces the functions of a connection. Returns an SQLite result code.
static inline int csqlite_use_linear_functions(sqlite3 *database) {
  static const struct {
    const char *name;
    int count;
    void (*run)(sqlite3_context *, int, sqlite3_value **);
  } functions[] = {
    {"instr", 2, csqlite_instr}, {"replace", 3, csqlite_replace}, {"trim", 1, csqlite_trim},   {"trim", 2, csqlite_trim},
    {"ltrim", 1, csqlite_ltrim}, {"ltrim", 2, csqlite_ltrim},     {"rtrim", 1, csqlite_rtrim}, {"rtrim", 2, csqlite_rtrim},
  };
  static const char gives_text_mark = 1;
  int gives_text = 0, code = csqlite_replace_gives_text(database, &gives_text);
  // Only replace looks at it.
  void *mark = gives_text ? (void *)&gives_text_mark : NULL;
  for (size_t i = 0; code == SQLITE_OK && i < sizeof functions / sizeof *functions; i++) {
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    code = sqlite3_create_function(database, functions[i].name, functions[i].count, flags, mark, functions[i].run, NULL, NULL);
  }
  return code;
}

#endif
