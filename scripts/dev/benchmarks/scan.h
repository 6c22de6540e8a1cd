/* A page of JSON in, for each record its text and three of its fields out. Every step is bounded by the page's end, behind
 * which eight zero bytes must be readable. It does not check what it does not need: numbers, UTF-8. */
#ifndef BENCH_SCAN_H
#define BENCH_SCAN_H

#include "bench.h"

typedef struct {
  const char *bytes;
  size_t length;
} bench_slice;

enum { FIELD_ID, FIELD_LAST_NAME, FIELD_ACCOUNT, FIELDS };

typedef struct {
  bench_slice text, fields[FIELDS]; /* fields without their quotes, escapes as they came */
} bench_record;

typedef struct {
  bench_record *records;
  size_t count, capacity;
  bench_slice next; /* nextRecordsUrl; empty on the last page */
} bench_page;

/* The closing quote of the string whose contents start at `p`, or NULL. Looks at eight bytes a step. */
static inline const char *scan_string(const char *p, const char *end) {
  const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
  while (p < end) {
    uint64_t word;
    memcpy(&word, p, 8);
    uint64_t quotes = word ^ (ones * '"'), slashes = word ^ (ones * '\\');
    uint64_t found = (((quotes - ones) & ~quotes) | ((slashes - ones) & ~slashes)) & highs;
    if (!found) {
      p += 8;
      continue;
    }
    p += __builtin_ctzll(found) >> 3;
    if (p >= end) return NULL;
    if (*p == '"') return p;
    p += 2;
  }
  return NULL;
}

static inline int scan_field(const char *key, size_t length) {
  if (length == 2 && memcmp(key, "Id", 2) == 0) return FIELD_ID;
  if (length == 8 && memcmp(key, "LastName", 8) == 0) return FIELD_LAST_NAME;
  if (length == 9 && memcmp(key, "AccountId", 9) == 0) return FIELD_ACCOUNT;
  return -1;
}

/* The byte behind the record that starts at `p`, or NULL when the page ends before it does. */
static inline const char *scan_record(const char *p, const char *end, bench_record *out) {
  int depth = 0;
  memset(out, 0, sizeof *out);
  out->text.bytes = p;
  for (; p < end; p++) {
    if (*p == '"') {
      const char *key = p + 1;
      if (!(p = scan_string(key, end))) return NULL;
      if (depth != 1 || p[1] != ':' || p[2] != '"') continue;
      int field = scan_field(key, (size_t)(p - key));
      const char *value = p + 3;
      if (!(p = scan_string(value, end))) return NULL;
      if (field >= 0) out->fields[field] = (bench_slice){value, (size_t)(p - value)};
    } else if (*p == '{' || *p == '[') {
      depth++;
    } else if ((*p == '}' || *p == ']') && --depth == 0) {
      out->text.length = (size_t)(p + 1 - out->text.bytes);
      return p + 1;
    }
  }
  return NULL;
}

static inline bench_slice scan_next_url(const char *page, const char *records) {
  static const char key[] = "\"nextRecordsUrl\":\"";
  const char *found = memmem(page, (size_t)(records - page), key, sizeof key - 1);
  if (!found) return (bench_slice){0};
  const char *start = found + sizeof key - 1, *stop = scan_string(start, records);
  return stop ? (bench_slice){start, (size_t)(stop - start)} : (bench_slice){0};
}

static inline void scan_page(const char *page, size_t length, bench_page *out) {
  static const char key[] = "\"records\":[";
  const char *end = page + length, *p = memmem(page, length, key, sizeof key - 1);
  if (!p) bench_die("a page has no records");
  out->next = scan_next_url(page, p);
  out->count = 0;
  for (p += sizeof key - 1; p < end && *p != ']';) {
    if (*p != '{') {
      p++;
      continue;
    }
    if (out->count == out->capacity) {
      out->capacity = out->capacity ? out->capacity * 2 : 2048;
      out->records = bench_realloc(out->records, out->capacity * sizeof *out->records);
    }
    if (!(p = scan_record(p, end, &out->records[out->count++]))) bench_die("a page was cut");
  }
}

static inline size_t scan_utf8(unsigned code, char *out) {
  if (code < 0x80) return out[0] = (char)code, 1;
  if (code < 0x800) return out[0] = (char)(0xc0 | code >> 6), out[1] = (char)(0x80 | (code & 63)), 2;
  if (code < 0x10000) {
    out[0] = (char)(0xe0 | code >> 12), out[1] = (char)(0x80 | (code >> 6 & 63)), out[2] = (char)(0x80 | (code & 63));
    return 3;
  }
  out[0] = (char)(0xf0 | code >> 18), out[1] = (char)(0x80 | (code >> 12 & 63));
  out[2] = (char)(0x80 | (code >> 6 & 63)), out[3] = (char)(0x80 | (code & 63));
  return 4;
}

static inline unsigned scan_hex(const char *p) {
  char digits[5] = {p[0], p[1], p[2], p[3], 0};
  return (unsigned)strtoul(digits, NULL, 16);
}

/* The string's contents without escapes: itself, or, where a backslash is in it, a copy in `scratch`. */
static inline bench_slice scan_unescape(bench_slice s, bench_buffer *scratch) {
  if (s.length == 0 || !memchr(s.bytes, '\\', s.length)) return s;
  scratch->length = 0;
  bench_reserve(scratch, s.length);
  char *out = scratch->bytes;
  for (const char *p = s.bytes, *end = s.bytes + s.length; p < end;) {
    if (*p != '\\' || p + 1 >= end) {
      *out++ = *p++;
      continue;
    }
    char c = p[1];
    p += 2;
    if (c != 'u' || p + 4 > end) {
      *out++ = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'b' ? '\b' : c == 'f' ? '\f' : c;
      continue;
    }
    unsigned code = scan_hex(p);
    p += 4;
    if (code >= 0xd800 && code < 0xdc00 && p + 6 <= end && p[0] == '\\' && p[1] == 'u') {
      code = 0x10000 + ((code - 0xd800) << 10) + (scan_hex(p + 2) - 0xdc00);
      p += 6;
    }
    out += scan_utf8(code, out);
  }
  return (bench_slice){scratch->bytes, (size_t)(out - scratch->bytes)};
}

#endif
