/* The Lua source that runs a file of Apex REST code for `tureen sandbox --apex`. */
#ifndef TUREEN_APEX_H
#define TUREEN_APEX_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const char *_Nonnull const tureen_apex_text;
extern const size_t tureen_apex_text_length;

#ifdef __cplusplus
}
#endif
#endif
