#include "library.h"

#include <stdlib.h>

/* The format is found in the data: gzip or zlib. */
enum { WINDOW_BITS = 15 + 32 };
enum { Z_OK = 0, Z_STREAM_END = 1, Z_BUF_ERROR = -5 };
enum { GZIP_FIRST = 0x1f };

struct ccurl_inflater {
    z_stream stream;
    int is_complete;
};

ccurl_inflater *ccurl_inflater_make(void) {
    ccurl_inflater *inflater = curl.inflateInit2_ ? calloc(1, sizeof *inflater) : NULL;
    if (inflater && curl.inflateInit2_(&inflater->stream, WINDOW_BITS, "1.2.11", (int)sizeof inflater->stream) != Z_OK) {
        free(inflater);
        return NULL;
    }
    return inflater;
}

void ccurl_inflater_free(ccurl_inflater *inflater) {
    if (!inflater) return;
    curl.inflateEnd(&inflater->stream);
    free(inflater);
}

int ccurl_inflater_is_complete(const ccurl_inflater *inflater) { return inflater->is_complete; }

int ccurl_inflater_read(
    ccurl_inflater *inflater, const void *data, size_t count, size_t *used, void *buffer, size_t size, size_t *written) {
    z_stream *stream = &inflater->stream;
    *used = *written = 0;
    if (inflater->is_complete) {
        /* Another member may follow; anything else behind the end is padding. */
        if (count == 0 || *(const unsigned char *)data != GZIP_FIRST) {
            *used = count;
            return 1;
        }
        if (curl.inflateReset(stream) != Z_OK) return 0;
        inflater->is_complete = 0;
    }
    const unsigned most = 1u << 30;
    stream->next_in = data;
    stream->avail_in = count < most ? (unsigned)count : most;
    stream->next_out = buffer;
    stream->avail_out = size < most ? (unsigned)size : most;
    int status = curl.inflate(stream, 0);
    *used = (size_t)(stream->next_in - (const unsigned char *)data);
    *written = (size_t)(stream->next_out - (unsigned char *)buffer);
    if (status == Z_STREAM_END) inflater->is_complete = 1;
    /* Without progress, it needs more data or more room. */
    return status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR;
}
