/* Embeds the Lua sources of the prompt. */
#include "include/tureen_repl.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const char values_lua[] = {
#embed "values.lua"
};
static const char repl_lua[] = {
#embed "repl.lua"
};

const char *const tureen_repl_values = values_lua;
const size_t tureen_repl_values_length = sizeof values_lua;
const char *const tureen_repl_text = repl_lua;
const size_t tureen_repl_text_length = sizeof repl_lua;
