/* PCRE2, loaded at run time: only queries with regular expressions need it, and it is installed wherever grep or git is.
 * Everything here is for UTF-8 text. Source: pcre2api(3), version 10.30 and later. */
#ifndef CPCRE_H
#define CPCRE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cpcre_pattern cpcre_pattern;

/* Options of a pattern; they can be combined. */
enum { CPCRE_CASELESS = 1, CPCRE_MULTILINE = 2, CPCRE_DOTALL = 4, CPCRE_EXTENDED = 8 };

/* Compiles a pattern. Returns NULL and fills `message` if it is invalid, too long or too deep, or if there is no PCRE2.
 * Thread-safe. */
cpcre_pattern *_Nullable cpcre_compile(
    const char *_Nonnull text, size_t length, int options, char *_Nonnull message, size_t size);

/* Searches a text for the pattern. Returns 1 or 0; -1 and fills `message` if the search takes too long or too much
 * memory. Only one thread may use a pattern at a time. */
int cpcre_matches(
    cpcre_pattern *_Nonnull pattern, const char *_Nonnull text, size_t length, char *_Nonnull message, size_t size);

void cpcre_free(cpcre_pattern *_Nonnull pattern);

#ifdef __cplusplus
}
#endif

#endif
