/* Matches a compiled pattern in counted steps. */
#include <string.h>

#include "tureen_pattern.h"

/* The maximum depth of a match, which limits the C stack to some 20 KB. */
#define DEEPEST 200
static int has(const tureen_item *item, const char *byte) {
  unsigned char b = (unsigned char)*byte;
  return item->bytes[b >> 6] >> (b & 63) & 1;
}

static const char *match(tureen_matcher *m, const char *s, const tureen_item *item);

/* Tries a match that may have to be undone. */
static const char *try(tureen_matcher *m, const char *s, const tureen_item *item) {
  if (++m->depth > DEEPEST) luaL_error(m->L, "pattern too complex");
  const char *found = match(m, s, item);
  m->depth--;
  return found;
}

static const char *match_many(tureen_matcher *m, const char *s, const tureen_item *item) {
  ptrdiff_t count = 0;
  while (s + count < m->end && has(item, s + count)) {
    count++;
    tureen_meter_work(m->L, 1);
  }
  for (; count >= item->least; count--) {
    const char *found = try(m, s + count, item + 1);
    if (found != NULL) return found;
  }
  return NULL;
}

static const char *match_few(tureen_matcher *m, const char *s, const tureen_item *item) {
  for (;;) {
    const char *found = try(m, s, item + 1);
    if (found != NULL) return found;
    if (s == m->end || !has(item, s)) return NULL;
    s++;
  }
}

static const char *match_open(tureen_matcher *m, const char *s, const tureen_item *item) {
  if (m->count == TUREEN_CAPTURES) luaL_error(m->L, "too many captures");
  m->captures[m->count] =
      (tureen_capture){s, item->kind == ITEM_POSITION ? TUREEN_CAPTURE_POSITION : TUREEN_CAPTURE_OPEN};
  m->count++;
  const char *found = try(m, s, item + 1);
  if (found == NULL) m->count--;
  return found;
}

static const char *match_close(tureen_matcher *m, const char *s, const tureen_item *item) {
  int last = m->count - 1;
  while (last >= 0 && m->captures[last].length != TUREEN_CAPTURE_OPEN) last--;
  if (last < 0) luaL_error(m->L, "invalid pattern capture");
  m->captures[last].length = s - m->captures[last].start;
  const char *found = try(m, s, item + 1);
  if (found == NULL) m->captures[last].length = TUREEN_CAPTURE_OPEN;
  return found;
}

/* Returns the position after a repetition of an earlier capture; NULL if it does not match. */
static const char *behind_capture(tureen_matcher *m, const char *s, int number) {
  if (number < 0 || number >= m->count || m->captures[number].length == TUREEN_CAPTURE_OPEN)
    luaL_error(m->L, "invalid capture index %%%d", number + 1);
  ptrdiff_t length = m->captures[number].length;
  if (length < 0) return NULL; /* a position has no text */
  if (m->end - s < length) return NULL;
  tureen_meter_bytes(m->L, (size_t)length);
  return memcmp(s, m->captures[number].start, (size_t)length) == 0 ? s + length : NULL;
}

/* Returns the position after the byte that closes the balanced text at s; NULL if there is none. */
static const char *behind_balance(tureen_matcher *m, const char *s, const tureen_item *item) {
  if (s == m->end || (unsigned char)*s != item->first) return NULL;
  ptrdiff_t open = 1;
  while (++s < m->end) {
    tureen_meter_work(m->L, 1);
    if ((unsigned char)*s == item->last) {
      if (--open == 0) return s + 1;
    } else if ((unsigned char)*s == item->first) {
      open++;
    }
  }
  return NULL;
}

static int is_frontier(const tureen_matcher *m, const char *s, const tureen_item *item) {
  static const char outside = 0;
  return !has(item, s == m->subject ? &outside : s - 1) && has(item, s == m->end ? &outside : s);
}

static const char *match(tureen_matcher *m, const char *s, const tureen_item *item) {
  for (;; item++) {
    tureen_meter_work(m->L, 1);
    switch (item->kind) {
      case ITEM_DONE: return s;
      case ITEM_AT_END: return s == m->end ? s : NULL;
      case ITEM_OPEN:
      case ITEM_POSITION: return match_open(m, s, item);
      case ITEM_CLOSE: return match_close(m, s, item);
      case ITEM_FRONTIER:
        if (!is_frontier(m, s, item)) return NULL;
        break;
      case ITEM_BACK:
      case ITEM_BALANCE:
        s = item->kind == ITEM_BACK ? behind_capture(m, s, item->capture) : behind_balance(m, s, item);
        if (s == NULL) return NULL;
        break;
      case ITEM_BYTES:
        if (item->repeats == AS_MANY_AS_CAN_BE) return match_many(m, s, item);
        if (item->repeats == AS_FEW_AS_CAN_BE) return match_few(m, s, item);
        int fits = s < m->end && has(item, s);
        if (item->repeats == ONCE && !fits) return NULL;
        if (item->repeats == AT_MOST_ONCE && fits) {
          const char *found = try(m, s + 1, item + 1);
          if (found != NULL) return found;
        } else if (fits) {
          s++;
        }
    }
  }
}

const char *tureen_pattern_match(tureen_matcher *m, const char *start) {
  m->depth = m->count = 0;
  return match(m, start, m->items);
}
