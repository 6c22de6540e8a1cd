/* The table of pending calls. */
#include <stdlib.h>

#include "embedding.h"

static size_t bucket_of(const call_table *table, int64_t id) { return (size_t)id & (table->size - 1); }

int tureen_calls_reserve(call_table *table) {
  if (table->count < table->size) return 1;
  call_table larger = {.size = table->size == 0 ? 16 : table->size * 2, .count = 0};
  larger.buckets = calloc(larger.size, sizeof *larger.buckets);
  if (larger.buckets == NULL) return 0;
  for (pending_call *call; (call = tureen_calls_remove_any(table)) != NULL;) tureen_calls_add(&larger, call);
  free(table->buckets);
  *table = larger;
  return 1;
}

void tureen_calls_add(call_table *table, pending_call *call) {
  pending_call **bucket = &table->buckets[bucket_of(table, call->id)];
  call->next = *bucket;
  *bucket = call;
  table->count++;
}

/* Returns the location of the pointer to a call, which is NULL if there is no such call. The table must not be empty. */
static pending_call **place_of(const call_table *table, int64_t id) {
  pending_call **place = &table->buckets[bucket_of(table, id)];
  while (*place != NULL && (*place)->id != id) place = &(*place)->next;
  return place;
}

static pending_call *take_out(call_table *table, pending_call **place) {
  pending_call *call = *place;
  if (call == NULL) return NULL;
  *place = call->next;
  table->count--;
  return call;
}

pending_call *tureen_calls_find(const call_table *table, int64_t id) {
  return table->count == 0 ? NULL : *place_of(table, id);
}

pending_call *tureen_calls_remove(call_table *table, int64_t id) {
  return table->count == 0 ? NULL : take_out(table, place_of(table, id));
}

pending_call *tureen_calls_remove_any(call_table *table) {
  if (table->count == 0) return NULL;
  for (size_t i = 0;; i++)
    if (table->buckets[i] != NULL) return take_out(table, &table->buckets[i]);
}

void tureen_call_free(pending_call *call) {
  free(call->store.data);
  free(call->service);
  free(call->action);
  free(call);
}
