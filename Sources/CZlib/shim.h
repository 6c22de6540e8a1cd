#ifndef CZLIB_SHIM_H
#define CZLIB_SHIM_H

#include <zlib.h>

/* Both are macros in zlib.h, which Swift cannot see. 15 + 16: the largest window, with the gzip head and trailer. */
static inline int czlib_inflate_init(z_stream *stream) { return inflateInit2(stream, 15 + 16); }
static inline int czlib_deflate_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

#endif
