/* Declarations shared by the files that decode JSON. Internal to this target. */
#ifndef TUREEN_DECODER_H
#define TUREEN_DECODER_H

#include <stdint.h>

#include "include/tureen_bridge.h"
#include "tureen_json.h"

/* The levels of nesting for which the size of the last object is stored. */
#define TUREEN_DECODER_HINTS 16
/* The registry name of the metatable of lazy records. */
#define TUREEN_RECORD "tureen.Record"

typedef struct tureen_page tureen_page;
typedef struct tureen_decoder tureen_decoder;

/* Functions that convert a page's objects to records. Both return 0 after `tureen_decoder_fail`; the stack is undefined then. */
typedef struct tureen_record_reader {
  /* Pushes the object at d->p as a record of d->page and moves past it.                              [-0, +0..1, m] */
  int (*read_record)(tureen_decoder *d);
  /* Pushes the list of entries at d->p, whose lengths are in d->lengths, and moves past it.           [-0, +0..1, m] */
  int (*read_entries)(tureen_decoder *d);
} tureen_record_reader;

/* The state of decoding. The text is known to be valid UTF-8, except for entries whose lengths are in `lengths`. */
struct tureen_decoder {
  lua_State *L;
  const char *start, *p, *end;
  tureen_json_error *error;
  int array_mark;    /* the stack index of the array metatable */
  int page_index;    /* the stack index of `page` */
  int record_mark;   /* the stack index of the metatable of records, if there is a page */
  tureen_page *page; /* NULL: every object becomes a table */
  int around;        /* levels that the host has added around its data; they do not count as depth */
  const tureen_record_reader *records; /* set if `page` is set */
  int is_lazy;       /* objects at this point become records of `page` */
  const char *lengths; /* the text of `entryLengths` after its bracket, if the page ends with it; else NULL */
  /* The number of members of the last object at each level. Records of a page are alike, so it presizes the next table. */
  unsigned short hints[TUREEN_DECODER_HINTS];
};

/* Stores an error message and its position, and returns 0. */
int tureen_decoder_fail(tureen_decoder *d, const char *message);

static inline void tureen_skip_blanks(tureen_decoder *d) {
  if (d->p < d->end && (unsigned char)*d->p > ' ') return; /* nearly always */
  while (d->p < d->end && (*d->p == ' ' || *d->p == '\n' || *d->p == '\r' || *d->p == '\t')) d->p++;
}

/* After an opening bracket: if the container is empty, moves past `close` and returns 1. */
static inline int tureen_is_empty(tureen_decoder *d, char close) {
  tureen_skip_blanks(d);
  if (d->p >= d->end || *d->p != close) return 0;
  d->p++;
  return 1;
}

/* After an element or a member: moves past the comma and returns 1, or past `close` and returns 0. Returns -1 after
 * `tureen_decoder_fail`. */
static inline int tureen_has_next(tureen_decoder *d, char close) {
  tureen_skip_blanks(d);
  int is_comma = d->p < d->end && *d->p == ',';
  if (!is_comma && (d->p >= d->end || *d->p != close)) {
    tureen_decoder_fail(d, close == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
    return -1;
  }
  d->p++;
  return is_comma;
}

/* The following functions return 0 after `tureen_decoder_fail`; the stack is undefined then. */

/* Pushes the value at d->p and moves past it.                                                        [-0, +0..1, m] */
int tureen_decode_value(tureen_decoder *d, int depth);
/* Pushes the string whose opening quote is at d->p and moves past it.                                [-0, +0..1, m] */
int tureen_decode_string(tureen_decoder *d);
/* Pushes the number at d->p and moves past it.                                                       [-0, +0..1, m] */
int tureen_decode_number(tureen_decoder *d);
/* Checks that the text between d->start and d->end is UTF-8, and pushes the single value in it.         [-0, +0..1, m] */
int tureen_decode_whole(tureen_decoder *d);

/* Like tureen_json_decode, but the objects in the list `currentPageOrderedEntries` become records. On success it takes
 * ownership of the text, which the records keep alive.                                               [-0, +0..1, m] */
int tureen_json_decode_page(lua_State *L, tureen_bytes *text, tureen_json_error *error);

/* Returns 1 if there is a record at `index`.                                                             [-0, +0, -] */
int tureen_is_record(lua_State *L, int index);

/* Returns the JSON text of the record at `index`, which is valid as long as the record; NULL if there is no record. Raises if the
 * text is not an object.                                                                                [-0, +0, e] */
const char *tureen_record_text(lua_State *L, int index, size_t *length);

/* Registers the metatables of records in the state.                                                     [-0, +0, e] */
void tureen_records_open(lua_State *L);

#endif
