/* Pages of lazy records. Internal to this target. */
#ifndef TUREEN_PAGE_H
#define TUREEN_PAGE_H

#include "tureen_decoder.h"

/* A member of an object. Offsets are relative to the start of the page. */
typedef struct tureen_member {
  uint32_t key, key_length; /* between the quotes */
  uint32_t value, value_length;
  uint32_t is_escaped; /* the key contains escapes */
} tureen_member;

/* The positions of an object's members. */
typedef struct tureen_index {
  uint32_t start; /* the offset of the object; 0: unused, because the page itself begins there */
  uint32_t count, capacity;
  tureen_member *members;
} tureen_index;

/* The number of objects per page whose members are cached: those that were read last. Scripts read some fields of a record and go
 * on to the next one; indexing a record again takes as long as reading two of its fields. */
#define TUREEN_PAGE_INDEXES 4

/* The text of a page. A userdata that the records keep alive. */
struct tureen_page {
  tureen_bytes text;
  tureen_index indexes[TUREEN_PAGE_INDEXES];
  uint32_t next; /* the index to replace next */
};

/* An object of a page; its user value 1 is the page. */
typedef struct tureen_record {
  uint64_t mark; /* TUREEN_RECORD_MARK */
  tureen_page *page;
  uint32_t start, length;
  int is_checked; /* its text is known to be UTF-8 */
} tureen_record;

/* Distinguishes a record from any other userdata of its size. */
#define TUREEN_RECORD_MARK 0x5c1f83d6a94e0b27u

/* Returns the members of the object at d->p and moves past it; NULL after `tureen_decoder_fail`. The result becomes invalid when
 * four other objects are indexed, which finalizers may do whenever Lua allocates.                        [-0, +0, m] */
tureen_index *tureen_page_index(tureen_decoder *d);

/* Returns the cached members of the object that begins at `start`; NULL if they are not cached. */
const tureen_index *tureen_page_find(const tureen_page *page, uint32_t start);

/* Pushes a copy of the record. Its page is at stack index `page_index`, the metatable at `metatable`.   [-0, +1, m] */
void tureen_page_push(lua_State *L, int page_index, int metatable, tureen_record record);

/* Registers the metatable of pages in the state.                                                        [-0, +0, e] */
void tureen_page_open(lua_State *L);

#endif
