/* Pages of records that are read field by field. Internal to this target. */
#ifndef TUREEN_PAGE_H
#define TUREEN_PAGE_H

#include "tureen_decoder.h"

/* One member of an object; offsets are from the start of the page. */
typedef struct tureen_member {
  uint32_t key, key_length; /* between the quotes */
  uint32_t value, value_length;
  uint32_t is_escaped; /* the key holds escapes */
} tureen_member;

/* Where the members of one object are. */
typedef struct tureen_index {
  uint32_t start; /* of the object; 0: of none, for the page itself begins there */
  uint32_t count, capacity;
  tureen_member *members;
} tureen_index;

/* Objects of a page whose members are known at a time: those that were read last. Scripts read some fields of one record and go
 * on to the next; to look into a record again takes no longer than to read two of its fields. */
#define TUREEN_PAGE_INDEXES 4

/* The text of a page. A userdata that the records keep alive. */
struct tureen_page {
  tureen_bytes text;
  tureen_index indexes[TUREEN_PAGE_INDEXES];
  uint32_t next; /* the index that gives way to a new one */
};

/* An object of a page; its user value 1 is the page. */
typedef struct tureen_record {
  uint64_t mark; /* TUREEN_RECORD_MARK */
  tureen_page *page;
  uint32_t start, length;
  int is_checked; /* its text is known to be UTF-8 */
} tureen_record;

/* Tells a record from any other userdata of its size. */
#define TUREEN_RECORD_MARK 0x5c1f83d6a94e0b27u

/* The members of the object at d->p, which is moved behind it; NULL after `tureen_decoder_fail`. What it points to is lost when
 * four other objects are looked into, as finalizers may do whenever Lua allocates.                       [-0, +0, m] */
tureen_index *tureen_page_index(tureen_decoder *d);

/* The members of the object that begins at `start`, if they are known; else NULL. */
const tureen_index *tureen_page_find(const tureen_page *page, uint32_t start);

/* Pushes a copy of the record; its page is at stack index `page_index`, the metatable at `metatable`.   [-0, +1, m] */
void tureen_page_push(lua_State *L, int page_index, int metatable, tureen_record record);

/* Makes the metatable of pages known to the state.                                                      [-0, +0, e] */
void tureen_page_open(lua_State *L);

#endif
