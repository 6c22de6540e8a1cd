#include "include/tureen_apex.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const char apex_lua[] = {
#embed "apex.lua"
};

const char *const tureen_apex_text = apex_lua;
const size_t tureen_apex_text_length = sizeof apex_lua;
