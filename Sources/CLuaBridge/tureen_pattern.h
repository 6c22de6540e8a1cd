/* Matches Lua patterns in steps that count against a script's limits. Internal to this target. */
#ifndef TUREEN_PATTERN_H
#define TUREEN_PATTERN_H

#include <stdint.h>

#include "tureen_limits.h"

/* The maximum number of captures, the same as in Lua; the manual does not specify it. */
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

/* A part of a pattern. */
struct tureen_item {
  tureen_item_kind kind;
  tureen_repetition repeats; /* for ITEM_BYTES */
  int least;                 /* for AS_MANY_AS_CAN_BE */
  int capture;               /* for ITEM_BACK, starting with 0 */
  unsigned char first, last; /* for ITEM_BALANCE */
  uint64_t bytes[4];         /* for ITEM_BYTES and ITEM_FRONTIER: one bit for each byte that matches */
};

/* A capture of a match. */
typedef struct tureen_capture {
  const char *start;
  ptrdiff_t length; /* or one of the two negative constants */
} tureen_capture;
enum { TUREEN_CAPTURE_OPEN = -1, TUREEN_CAPTURE_POSITION = -2 };

/* The state of matching a pattern against a subject. */
typedef struct tureen_matcher {
  lua_State *L;
  const char *subject, *end;
  const tureen_item *items; /* a userdata the caller keeps on the stack */
  int depth, count;
  tureen_capture captures[TUREEN_CAPTURES];
} tureen_matcher;

/* Pushes the items of a pattern; raises if it is malformed. The caller handles a leading '^'.           [-0, +1, e] */
const tureen_item *tureen_pattern_compile(lua_State *L, const char *pattern, size_t length);

/* Returns the end of a match that begins at `start`; NULL if there is none. Raises at a limit.          [-0, +0, v] */
const char *tureen_pattern_match(tureen_matcher *m, const char *start);

#endif
