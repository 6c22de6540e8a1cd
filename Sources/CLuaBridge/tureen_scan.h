/* Inline functions that skip parts of JSON text, the innermost loops of decoding. Internal to this target. */
#ifndef TUREEN_SCAN_H
#define TUREEN_SCAN_H

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "tureen_decoder.h"

/* Returns the first quote, backslash or control character at or after `p`; `end` if there is none. */
static inline const char *tureen_find_special(const char *p, const char *end) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1f);
  while (end - p >= 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)p);
    __m128i marks = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, slash)),
                                 _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes));
    unsigned mask = (unsigned)_mm_movemask_epi8(marks);
    if (mask != 0) return p + __builtin_ctz(mask);
    p += 16;
  }
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  const uint64_t ones = 0x0101010101010101u, tops = ones << 7;
  while (end - p >= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    uint64_t quote = word ^ ones * '"', slash = word ^ ones * '\\';
    /* Each term marks the searched bytes. Borrows can only mark bytes after the first true one. */
    uint64_t marks = ((quote - ones) & ~quote) | ((slash - ones) & ~slash) | ((word - ones * 0x20) & ~word);
    if ((marks &= tops) != 0) return p + __builtin_ctzll(marks) / 8;
    p += 8;
  }
#endif
  while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20) p++;
  return p;
}

/* Moves from the opening quote of a string to its closing one; *is_escaped is 1 if it contains a backslash. Returns 0 after
 * `tureen_decoder_fail`. */
static inline int tureen_skip_string(tureen_decoder *d, int *is_escaped) {
  const char *p = d->p + 1;
  *is_escaped = 0;
  for (;;) {
    p = tureen_find_special(p, d->end);
    if (p >= d->end || (*p == '\\' && d->end - p < 2)) {
      d->p = d->end;
      return tureen_decoder_fail(d, "the text ends inside a string");
    }
    if (*p == '"') break;
    if (*p != '\\') {
      d->p = p;
      return tureen_decoder_fail(d, "control character in a string");
    }
    *is_escaped = 1;
    p += 2;
  }
  d->p = p;
  return 1;
}

/* Moves past a number or a word: to the next comma, bracket or blank. */
static inline void tureen_skip_scalar(tureen_decoder *d) {
  const char *p = d->p;
  /* All bytes that can follow a scalar are below '-', except the brackets; those of scalars are above. */
  while (p < d->end && (*p > ',' ? *p != '}' && *p != ']' : *p == '+')) p++;
  d->p = p;
}

#endif
