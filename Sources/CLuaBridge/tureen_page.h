/* Pages of records that are read field by field. Internal to this target. */
#ifndef TUREEN_PAGE_H
#define TUREEN_PAGE_H

#include "tureen_decoder.h"

/* One member of an object; offsets are from the start of the page. */
typedef struct tureen_member {
  uint32_t key, key_length; /* between the quotes */
  uint32_t value, value_length;
  uint32_t first, count; /* of the members of a value that is an object, once it was asked for */
  uint8_t is_escaped;    /* the key holds escapes */
  uint8_t is_indexed;    /* `first` and `count` are known */
} tureen_member;

/* The text of a page and the members of all its records. A userdata that the records keep alive. */
struct tureen_page {
  tureen_bytes text;
  tureen_member *members;
  uint32_t count, capacity;
};

/* An object of a page; its user value 1 is the page. */
typedef struct tureen_record {
  tureen_page *page;
  uint32_t start, length;
  uint32_t first, count; /* its members, in the page's list, once it is indexed */
  int is_indexed;
} tureen_record;

/* Notes the members of the object between d->p and d->end as the last of d->page; 0 after `tureen_decoder_fail`, and then
 * none of them.                                                                                          [-0, +0, m] */
int tureen_page_index(tureen_decoder *d);

/* Pushes a record; its page is at stack index `page_index`, the metatable at `metatable`.               [-0, +1, m] */
void tureen_page_push(lua_State *L, int page_index, int metatable, const tureen_record *value);

/* Makes the metatable of pages known to the state.                                                      [-0, +0, e] */
void tureen_page_open(lua_State *L);

#endif
