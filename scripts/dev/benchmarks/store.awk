# The table of `bench --store`. Reads `name value` lines of store.c and store.lua.

function verdict(holds) { return holds ? "PASS" : "FAIL" }

/^shape_/ { shapes[++count] = sprintf("  %-44s %8.1f ms", substr($1, 7), $2); next }
{ v[$1] = $2 }

END {
  printf "\n%d rows, five indexes; CPU s of the whole process, from tables in a script to the callback\n\n", rows
  printf "  C, INSERT OR REPLACE: new %.2f, random edits %.2f\n", v["c_new"], v["c_replace"]
  printf "  script upserts:       new %.2f, every row edited %.2f, random edits %.2f\n", v["lua_new"], v["lua_again"], v["lua_random"]
  printf "\nnew rows: %.2f of C\n", ratio(v["lua_new"], v["c_new"])
  # The target of random edits, 0.50, is for records that come as text; a script's tables are made into text first.
  printf "random edits: %.2f of C with INSERT OR REPLACE\n", ratio(v["lua_random"], v["c_replace"])
  # The target is for a machine where the prepared statement in C answers 205,000 times a second.
  needed = 20000 * v["c_lookups"] / 205000
  printf "answers through the bridge: %.0f a second (prepared in C: %.0f)      at least %.0f on this machine: %s\n", \
    v["lua_lookups"], v["c_lookups"], needed, verdict(v["lua_lookups"] >= needed)
  r = ratio(v["c_lookups"], v["engine_lookups"])
  printf "look-ups through the engine: %.0f a second, %.2f times the prepared statement in C      at most 1.50: %s\n", \
    v["engine_lookups"], r, verdict(r <= 1.5)
  printf "\na page of 2,000 entries, us CPU a record\n"
  printf "  decoded only: lua-cjson %.2f, ours %.2f\n", v["page_cjson"], v["page_decode"]
  printf "  queried and: decoded by lua-cjson %.2f, as tables %.2f, as lazy records with two fields read %.2f\n", v["page_texts"], \
    v["page_tables"], v["page_lazy"]
  r = ratio(v["page_texts"], v["page_tables"])
  printf "tables: %.2f times the records of lua-cjson      at least 1.2: %s\n", r, verdict(r >= 1.2)
  r = ratio(v["page_texts"], v["page_lazy"])
  printf "lazy records: %.2f times      at least 4: %s\n", r, verdict(r >= 4)
  printf "\nload tests' shapes, 1,000 entries:\n"
  for (i = 1; i <= count; i++) print shapes[i]
}
