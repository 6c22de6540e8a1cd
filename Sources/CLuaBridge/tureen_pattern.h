/* Lua's patterns, matched in steps that count against a script's limits. Internal to this target. */
#ifndef TUREEN_PATTERN_H
#define TUREEN_PATTERN_H

#include <stdint.h>

#include "tureen_limits.h"

/* Captures of a pattern; the manual names no number, Lua's own is the same. */
#define TUREEN_CAPTURES 32

typedef struct tureen_item tureen_item;
typedef enum tureen_item_kind {
  ITEM_BYTES,
  ITEM_OPEN,
  ITEM_CLOSE,
  ITEM_POSITION,
  ITEM_BACK,
  ITEM_BALANCE,
  ITEM_FRONTIER,
  ITEM_AT_END,
  ITEM_DONE
} tureen_item_kind;
typedef enum tureen_repetition { ONCE, AT_MOST_ONCE, AS_MANY_AS_CAN_BE, AS_FEW_AS_CAN_BE } tureen_repetition;

/* One part of a pattern. */
struct tureen_item {
  tureen_item_kind kind;
  tureen_repetition repeats; /* of ITEM_BYTES */
  int least;                 /* of AS_MANY_AS_CAN_BE */
  int capture;               /* of ITEM_BACK, from 0 on */
  unsigned char first, last; /* of ITEM_BALANCE */
  uint64_t bytes[4];         /* of ITEM_BYTES and ITEM_FRONTIER: one bit for each byte that may stand there */
};

/* Where a match found a capture. */
typedef struct tureen_capture {
  const char *start;
  ptrdiff_t length; /* or one of the two below 0 */
} tureen_capture;
enum { TUREEN_CAPTURE_OPEN = -1, TUREEN_CAPTURE_POSITION = -2 };

/* A pattern at work on a subject. */
typedef struct tureen_matcher {
  lua_State *L;
  const char *subject, *end;
  const tureen_item *items; /* a userdata the caller keeps on the stack */
  int depth, count;
  tureen_capture captures[TUREEN_CAPTURES];
} tureen_matcher;

/* Pushes the items of a pattern; raises when it is malformed. A leading '^' is the caller's.            [-0, +1, e] */
const tureen_item *tureen_pattern_compile(lua_State *L, const char *pattern, size_t length);

/* Where a match that begins at `start` ends; NULL when there is none. Raises at a limit.                [-0, +0, v] */
const char *tureen_pattern_match(tureen_matcher *m, const char *start);

#endif
