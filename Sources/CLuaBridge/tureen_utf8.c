#include "tureen_json.h"

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Returns the length of the multibyte sequence at `p`, of which `left` bytes are available; 0 if it is invalid.
 * Ranges of the second byte: Unicode 15, table 3-7 (no overlong forms, no surrogates, nothing above U+10FFFF). */
static size_t sequence_length(const unsigned char *p, size_t left) {
  unsigned char low = 0x80, high = 0xBF;
  size_t count;
  if (p[0] >= 0xC2 && p[0] <= 0xDF) count = 2;
  else if (p[0] >= 0xE0 && p[0] <= 0xEF) count = 3;
  else if (p[0] >= 0xF0 && p[0] <= 0xF4) count = 4;
  else return 0;
  switch (p[0]) {
    case 0xE0: low = 0xA0; break;
    case 0xED: high = 0x9F; break;
    case 0xF0: low = 0x90; break;
    case 0xF4: high = 0x8F; break;
    default: break;
  }
  if (left < count || p[1] < low || p[1] > high) return 0;
  for (size_t i = 2; i < count; i++)
    if ((p[i] & 0xC0) != 0x80) return 0;
  return count;
}

size_t tureen_utf8_prefix(const char *text, size_t length) {
  const unsigned char *p = (const unsigned char *)text;
  size_t i = 0;
  while (i < length) {
#if defined(__SSE2__)
    while (length - i >= 16 && _mm_movemask_epi8(_mm_loadu_si128((const __m128i *)(p + i))) == 0) i += 16;
#endif
    uint64_t word;
    while (length - i >= 8 && (memcpy(&word, p + i, 8), (word & 0x8080808080808080u) == 0)) i += 8;
    if (i == length) break;
    if (p[i] < 0x80) {
      i++;
      continue;
    }
    size_t count = sequence_length(p + i, length - i);
    if (count == 0) return i;
    i += count;
  }
  return length;
}
