/* What the files that read JSON text share. Internal to this target. */
#ifndef TUREEN_DECODER_H
#define TUREEN_DECODER_H

#include <stdint.h>

#include "include/tureen_bridge.h"
#include "tureen_json.h"

/* Levels of nesting for which the size of the last object is remembered. */
#define TUREEN_DECODER_HINTS 16
/* Registry name of the metatable of a record that is read field by field. */
#define TUREEN_RECORD "tureen.Record"

typedef struct tureen_page tureen_page;
typedef struct tureen_decoder tureen_decoder;

/* How a page's objects become records. Both return 0 after `tureen_decoder_fail`, with nothing promised about the stack. */
typedef struct tureen_record_reader {
  /* Pushes the object at d->p as a record of d->page and moves behind it.                            [-0, +0..1, m] */
  int (*read_record)(tureen_decoder *d);
  /* Pushes the list of entries at d->p, each as long as d->lengths says, and moves behind it.         [-0, +0..1, m] */
  int (*read_entries)(tureen_decoder *d);
} tureen_record_reader;

/* Where reading stands. The text has been found to be valid UTF-8, apart from entries that `lengths` tells of. */
struct tureen_decoder {
  lua_State *L;
  const char *start, *p, *end;
  tureen_json_error *error;
  int array_mark;    /* stack index of the array metatable */
  int page_index;    /* stack index of `page` */
  int record_mark;   /* stack index of the metatable of records, when there is a page */
  tureen_page *page; /* NULL: every object becomes a table */
  int around;        /* levels that the host put around what it was given: they do not count as depth */
  const tureen_record_reader *records; /* set where `page` is */
  int is_lazy;       /* objects met now become records of `page` */
  const char *lengths; /* the text of `entryLengths`, behind its bracket, when the page ends with it; else NULL */
  /* Members of the last object at each level: records of a page are alike, so the next table is made that large. */
  unsigned short hints[TUREEN_DECODER_HINTS];
};

/* Notes why and where, and returns 0. */
int tureen_decoder_fail(tureen_decoder *d, const char *message);

static inline void tureen_skip_blanks(tureen_decoder *d) {
  if (d->p < d->end && (unsigned char)*d->p > ' ') return; /* nearly always */
  while (d->p < d->end && (*d->p == ' ' || *d->p == '\n' || *d->p == '\r' || *d->p == '\t')) d->p++;
}

/* Behind the opening bracket: moves behind `close` and returns 1 when nothing stands between them. */
static inline int tureen_is_empty(tureen_decoder *d, char close) {
  tureen_skip_blanks(d);
  if (d->p >= d->end || *d->p != close) return 0;
  d->p++;
  return 1;
}

/* Behind an element or a member: moves behind the comma and returns 1, or behind `close` and returns 0; -1 after
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

/* All that follow return 0 after `tureen_decoder_fail`, with nothing promised about the stack. */

/* Pushes the value at d->p and moves behind it.                                                      [-0, +0..1, m] */
int tureen_decode_value(tureen_decoder *d, int depth);
/* The same for a string, d->p at its opening quote.                                                  [-0, +0..1, m] */
int tureen_decode_string(tureen_decoder *d);
/* The same for a number.                                                                             [-0, +0..1, m] */
int tureen_decode_number(tureen_decoder *d);
/* Pushes the value that is all of the text between d->start and d->end, after a look at its UTF-8.      [-0, +0..1, m] */
int tureen_decode_whole(tureen_decoder *d);

/* As tureen_json_decode, but the objects in the list `currentPageOrderedEntries` become records. Takes the text over
 * when it succeeds: the records keep it alive.                                                       [-0, +0..1, m] */
int tureen_json_decode_page(lua_State *L, tureen_bytes *text, tureen_json_error *error);

/* Whether a record is at `index`.                                                                        [-0, +0, -] */
int tureen_is_record(lua_State *L, int index);

/* The JSON text of the record at `index`, NULL when there is none. It lives as long as the record. Raises when the record is
 * no object after all.                                                                                  [-0, +0, e] */
const char *tureen_record_text(lua_State *L, int index, size_t *length);

/* Makes the metatables of records known to the state.                                                   [-0, +0, e] */
void tureen_records_open(lua_State *L);

#endif
