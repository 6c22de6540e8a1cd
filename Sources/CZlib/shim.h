#ifndef CZLIB_SHIM_H
#define CZLIB_SHIM_H

#include <zlib.h>

/* Swift cannot import zlib's macros. 15 + 16 selects the largest window and the gzip format. */
static inline int czlib_inflate_init(z_stream *stream) { return inflateInit2(stream, 15 + 16); }
static inline int czlib_deflate_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

#endif
