#include "tureen_json.h"

#include <math.h>
#include <string.h>

typedef struct decoder {
  lua_State *L;
  const char *start, *p, *end;
  tureen_json_error *error;
} decoder;

static int fail(decoder *d, const char *message) {
  d->error->message = message;
  d->error->offset = (size_t)(d->p - d->start);
  return 0;
}

static void skip_blanks(decoder *d) {
  while (d->p < d->end && (*d->p == ' ' || *d->p == '\n' || *d->p == '\r' || *d->p == '\t')) d->p++;
}

static int is_digit(decoder *d) { return d->p < d->end && *d->p >= '0' && *d->p <= '9'; }

static int skip_digits(decoder *d) {
  if (!is_digit(d)) return 0;
  while (is_digit(d)) d->p++;
  return 1;
}

/* Pushes the number between `from` and d->p, which has JSON's form.                                     [-0, +1, m] */
static int push_number(decoder *d, const char *from, int is_integer) {
  size_t length = (size_t)(d->p - from);
  if (is_integer && length <= 18) {
    lua_Integer value = 0;
    const char *digits = *from == '-' ? from + 1 : from;
    for (; digits < d->p; digits++) value = value * 10 + (*digits - '0');
    lua_pushinteger(d->L, *from == '-' ? -value : value);
    return 1;
  }
  /* Lua's own conversion knows the locale, and makes a float of an integer that is too large. It wants a final zero. */
  lua_pushlstring(d->L, from, length);
  size_t used = lua_stringtonumber(d->L, lua_tostring(d->L, -1));
  if (used == 0 || isinf(lua_tonumber(d->L, -1))) {
    lua_pop(d->L, used == 0 ? 1 : 2);
    d->p = from;
    return fail(d, "number out of range");
  }
  lua_remove(d->L, -2);
  return 1;
}

static int read_number(decoder *d) {
  const char *from = d->p;
  int is_integer = 1;
  if (*d->p == '-') d->p++;
  if (d->p < d->end && *d->p == '0') d->p++;
  else if (!skip_digits(d)) return fail(d, "a digit is missing");
  if (d->p < d->end && *d->p == '.') {
    d->p++;
    is_integer = 0;
    if (!skip_digits(d)) return fail(d, "a digit is missing");
  }
  if (d->p < d->end && (*d->p == 'e' || *d->p == 'E')) {
    d->p++;
    is_integer = 0;
    if (d->p < d->end && (*d->p == '+' || *d->p == '-')) d->p++;
    if (!skip_digits(d)) return fail(d, "a digit is missing");
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

/* Reads what follows "\u", up to and with the second half of a pair. Returns NULL when it is no character. */
static char *read_unicode(decoder *d, char *out) {
  int first = d->end - d->p >= 4 ? hex4(d->p) : -1;
  if (first < 0) return NULL;
  d->p += 4;
  if (first < 0xD800 || first > 0xDFFF) return put_code_point(out, (unsigned long)first);
  if (first > 0xDBFF || d->end - d->p < 6 || d->p[0] != '\\' || d->p[1] != 'u') return NULL;
  int second = hex4(d->p + 2);
  if (second < 0xDC00 || second > 0xDFFF) return NULL;
  d->p += 6;
  return put_code_point(out, 0x10000 + ((unsigned long)(first - 0xD800) << 10) + (unsigned long)(second - 0xDC00));
}

/* Reads one escape, d->p behind the backslash. Returns where `out` went on to; NULL when it is not one. */
static char *read_escape(decoder *d, char *out) {
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  if (d->p >= d->end) return NULL;
  char c = *d->p++;
  if (c == 'u') return read_unicode(d, out);
  const char *name = c == '\0' ? NULL : strchr(names, c);
  if (name == NULL) return NULL;
  *out++ = values[name - names];
  return out;
}

/* Pushes a string that holds escapes; d->p at its first character, `close` at its closing quote.        [-0, +1, m] */
static int read_escaped(decoder *d, const char *close) {
  luaL_Buffer buffer; /* an escape is never shorter than what it stands for */
  char *start = luaL_buffinitsize(d->L, &buffer, (size_t)(close - d->p)), *out = start;
  while (d->p < close) {
    if (*d->p != '\\') {
      *out++ = *d->p++;
      continue;
    }
    const char *at = d->p++;
    out = read_escape(d, out);
    if (out == NULL) {
      luaL_pushresultsize(&buffer, 0);
      lua_pop(d->L, 1);
      d->p = at;
      return fail(d, "bad escape in a string");
    }
  }
  luaL_pushresultsize(&buffer, (size_t)(out - start));
  return 1;
}

/* A string; d->p at its opening quote.                                                               [-0, +0..1, m] */
static int read_string(decoder *d) {
  const char *from = ++d->p;
  int escaped = 0;
  while (d->p < d->end && *d->p != '"') {
    if ((unsigned char)*d->p < 0x20) return fail(d, "control character in a string");
    if (*d->p == '\\') {
      escaped = 1;
      d->p++;
    }
    d->p++;
  }
  if (d->p >= d->end) {
    d->p = d->end;
    return fail(d, "the text ends inside a string");
  }
  const char *close = d->p;
  if (escaped) {
    d->p = from;
    if (!read_escaped(d, close)) return 0;
  } else {
    lua_pushlstring(d->L, from, (size_t)(close - from));
  }
  d->p = close + 1;
  return 1;
}

static int read_value(decoder *d, int depth);

static int read_array(decoder *d, int depth) {
  d->p++;
  lua_newtable(d->L);
  luaL_setmetatable(d->L, TUREEN_ARRAY);
  skip_blanks(d);
  if (d->p < d->end && *d->p == ']') {
    d->p++;
    return 1;
  }
  for (lua_Integer i = 1;; i++) {
    if (!read_value(d, depth)) return 0;
    lua_rawseti(d->L, -2, i);
    skip_blanks(d);
    if (d->p < d->end && *d->p == ']') break;
    if (d->p >= d->end || *d->p != ',') return fail(d, "expected ',' or ']'");
    d->p++;
  }
  d->p++;
  return 1;
}

static int read_member(decoder *d, int depth) {
  skip_blanks(d);
  if (d->p >= d->end || *d->p != '"') return fail(d, "expected a key in quotes");
  if (!read_string(d)) return 0;
  skip_blanks(d);
  if (d->p >= d->end || *d->p != ':') return fail(d, "expected ':'");
  d->p++;
  if (!read_value(d, depth)) return 0;
  lua_rawset(d->L, -3);
  return 1;
}

static int read_object(decoder *d, int depth) {
  d->p++;
  lua_newtable(d->L);
  skip_blanks(d);
  if (d->p < d->end && *d->p == '}') {
    d->p++;
    return 1;
  }
  for (;;) {
    if (!read_member(d, depth)) return 0;
    skip_blanks(d);
    if (d->p < d->end && *d->p == '}') break;
    if (d->p >= d->end || *d->p != ',') return fail(d, "expected ',' or '}'");
    d->p++;
  }
  d->p++;
  return 1;
}

static int read_word(decoder *d, const char *word, size_t length) {
  if ((size_t)(d->end - d->p) < length || memcmp(d->p, word, length) != 0) return fail(d, "unknown word");
  d->p += length;
  return 1;
}

static int read_value(decoder *d, int depth) {
  skip_blanks(d);
  if (d->p >= d->end) return fail(d, "the text ends where a value should stand");
  if (depth >= TUREEN_JSON_DEPTH) return fail(d, "nested too deeply");
  if (!lua_checkstack(d->L, 8)) return fail(d, "no room for a value nested this deeply");
  switch (*d->p) {
    case '{': return read_object(d, depth + 1);
    case '[': return read_array(d, depth + 1);
    case '"': return read_string(d);
    case 't':
      if (!read_word(d, "true", 4)) return 0;
      lua_pushboolean(d->L, 1);
      return 1;
    case 'f':
      if (!read_word(d, "false", 5)) return 0;
      lua_pushboolean(d->L, 0);
      return 1;
    case 'n':
      if (!read_word(d, "null", 4)) return 0;
      lua_pushlightuserdata(d->L, NULL);
      return 1;
    default:
      if (*d->p == '-' || is_digit(d)) return read_number(d);
      return fail(d, "unexpected character");
  }
}

int tureen_json_decode(lua_State *L, const char *text, size_t length, tureen_json_error *error) {
  decoder d = {L, text, text, text + length, error};
  int top = lua_gettop(L);
  size_t valid = tureen_utf8_prefix(text, length);
  d.p = text + valid;
  int ok = valid == length || fail(&d, "not valid UTF-8");
  if (ok) {
    d.p = text;
    ok = read_value(&d, 0);
  }
  if (ok) {
    skip_blanks(&d);
    if (d.p < d.end) ok = fail(&d, "something follows the value");
  }
  if (!ok) lua_settop(L, top);
  return ok;
}
