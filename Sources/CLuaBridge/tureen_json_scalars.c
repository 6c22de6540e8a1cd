/* Decodes strings and numbers. */
#define _GNU_SOURCE /* strtod_l */
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tureen_scan.h"

int tureen_decoder_fail(tureen_decoder *d, const char *message) {
  d->error->message = message;
  d->error->offset = (size_t)(d->p - d->start);
  return 0;
}

static int is_digit(tureen_decoder *d) { return d->p < d->end && *d->p >= '0' && *d->p <= '9'; }

static int skip_digits(tureen_decoder *d) {
  if (!is_digit(d)) return 0;
  while (is_digit(d)) d->p++;
  return 1;
}

static locale_t plain_locale; /* prints a point in numbers, whatever locale the program has set; never freed */

static void make_plain_locale(void) { plain_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

/* Pushes a number that is not an integer. A number too large for a double becomes infinity, as in most languages. [-0, +1, m] */
static void push_float(tureen_decoder *d, const char *from, size_t length) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  char room[64];
  const char *text = room;
  pthread_once(&once, make_plain_locale);
  if (length < sizeof room) {
    memcpy(room, from, length);
    room[length] = '\0';
  } else {
    text = lua_pushlstring(d->L, from, length);
  }
  double value = plain_locale != (locale_t)0 ? strtod_l(text, NULL, plain_locale) : strtod(text, NULL);
  if (text != room) lua_pop(d->L, 1);
  lua_pushnumber(d->L, (lua_Number)value);
}

/* Pushes the number between `from` and d->p, which has JSON's form.                                     [-0, +1, m] */
static int push_number(tureen_decoder *d, const char *from, int is_integer) {
  size_t length = (size_t)(d->p - from);
  if (is_integer && length <= 18) {
    lua_Integer value = 0;
    const char *digits = *from == '-' ? from + 1 : from;
    for (; digits < d->p; digits++) value = value * 10 + (*digits - '0');
    /* Integers have no negative zero: it would lose its sign if the script saves what it has read. */
    if (value == 0 && *from == '-') lua_pushnumber(d->L, -0.0);
    else lua_pushinteger(d->L, *from == '-' ? -value : value);
    return 1;
  }
  if (!is_integer || length > 20) {
    push_float(d, from, length);
    return 1;
  }
  /* Lua's conversion returns a float for an integer that does not fit into 64 bits. It needs a final zero. */
  lua_pushlstring(d->L, from, length);
  if (lua_stringtonumber(d->L, lua_tostring(d->L, -1)) == 0) {
    lua_pop(d->L, 1);
    push_float(d, from, length);
    return 1;
  }
  lua_remove(d->L, -2);
  return 1;
}

int tureen_decode_number(tureen_decoder *d) {
  const char *from = d->p;
  int is_integer = 1;
  if (*d->p == '-') d->p++;
  if (d->p < d->end && *d->p == '0') d->p++;
  else if (!skip_digits(d)) return tureen_decoder_fail(d, "a digit is missing");
  if (d->p < d->end && *d->p == '.') {
    d->p++;
    is_integer = 0;
    if (!skip_digits(d)) return tureen_decoder_fail(d, "a digit is missing");
  }
  if (d->p < d->end && (*d->p == 'e' || *d->p == 'E')) {
    d->p++;
    is_integer = 0;
    if (d->p < d->end && (*d->p == '+' || *d->p == '-')) d->p++;
    if (!skip_digits(d)) return tureen_decoder_fail(d, "a digit is missing");
  }
  return push_number(d, from, is_integer);
}

static int hex4(const char *p) {
  int value = 0;
  for (int i = 0; i < 4; i++) {
    char c = p[i];
    int digit;
    if (c >= '0' && c <= '9') digit = c - '0';
    else if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
    else if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
    else return -1;
    value = value * 16 + digit;
  }
  return value;
}

static char *put_code_point(char *out, unsigned long c) {
  if (c < 0x80) {
    *out++ = (char)c;
  } else if (c < 0x800) {
    *out++ = (char)(0xC0 | c >> 6);
    *out++ = (char)(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    *out++ = (char)(0xE0 | c >> 12);
    *out++ = (char)(0x80 | (c >> 6 & 0x3F));
    *out++ = (char)(0x80 | (c & 0x3F));
  } else {
    *out++ = (char)(0xF0 | c >> 18);
    *out++ = (char)(0x80 | (c >> 12 & 0x3F));
    *out++ = (char)(0x80 | (c >> 6 & 0x3F));
    *out++ = (char)(0x80 | (c & 0x3F));
  }
  return out;
}

/* Reads the digits after "\u", including the second half of a surrogate pair. A lone surrogate becomes U+FFFD: entries of early
 * releases may contain one, and JSON's grammar allows it. Returns NULL if the digits are invalid. */
static char *read_unicode(tureen_decoder *d, char *out) {
  int first = d->end - d->p >= 4 ? hex4(d->p) : -1;
  if (first < 0) return NULL;
  d->p += 4;
  if (first < 0xD800 || first > 0xDFFF) return put_code_point(out, (unsigned long)first);
  int second = first <= 0xDBFF && d->end - d->p >= 6 && d->p[0] == '\\' && d->p[1] == 'u' ? hex4(d->p + 2) : -1;
  if (second < 0xDC00 || second > 0xDFFF) return put_code_point(out, 0xFFFD);
  d->p += 6;
  return put_code_point(out, 0x10000 + ((unsigned long)(first - 0xD800) << 10) + (unsigned long)(second - 0xDC00));
}

/* Reads one escape; d->p is after the backslash. Returns the new end of `out`; NULL if the escape is invalid. */
static char *read_escape(tureen_decoder *d, char *out) {
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  if (d->p >= d->end) return NULL;
  char c = *d->p++;
  if (c == 'u') return read_unicode(d, out);
  const char *name = c == '\0' ? NULL : strchr(names, c);
  if (name == NULL) return NULL;
  *out++ = values[name - names];
  return out;
}

/* Pushes a string with escapes. d->p is at its first character, `close` at its closing quote.           [-0, +1, m] */
static int read_escaped(tureen_decoder *d, const char *close) {
  luaL_Buffer buffer; /* an escape is never shorter than the bytes that it stands for */
  char *start = luaL_buffinitsize(d->L, &buffer, (size_t)(close - d->p)), *out = start;
  while (d->p < close) {
    const char *escape = memchr(d->p, '\\', (size_t)(close - d->p));
    size_t plain = (size_t)((escape != NULL ? escape : close) - d->p);
    memcpy(out, d->p, plain);
    out += plain;
    d->p += plain;
    if (escape == NULL) break;
    d->p++;
    out = read_escape(d, out);
    if (out == NULL) {
      luaL_pushresultsize(&buffer, 0);
      lua_pop(d->L, 1);
      d->p = escape;
      return tureen_decoder_fail(d, "bad escape in a string");
    }
  }
  luaL_pushresultsize(&buffer, (size_t)(out - start));
  return 1;
}

int tureen_decode_string(tureen_decoder *d) {
  const char *from = d->p + 1;
  int is_escaped;
  if (!tureen_skip_string(d, &is_escaped)) return 0;
  const char *close = d->p;
  if (is_escaped) {
    d->p = from;
    if (!read_escaped(d, close)) return 0;
  } else {
    lua_pushlstring(d->L, from, (size_t)(close - from));
  }
  d->p = close + 1;
  return 1;
}
