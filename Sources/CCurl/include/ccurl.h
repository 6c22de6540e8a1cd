/* libcurl's multi interface for one thread, loaded at run time: its headers are not needed to build, and the system's updates
 * mend it. Source: curl.se/libcurl/c, version 7.87 and later. Numbers of options never change. */
#ifndef CCURL_H
#define CCURL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ccurl_loop ccurl_loop;         /* a multi handle with its connections */
typedef struct ccurl_transfer ccurl_transfer; /* an easy handle */
typedef struct ccurl_trust ccurl_trust;       /* authorities in addition to the system's */

/* Returns 1 if libcurl is there and recent enough; otherwise 0 and fills `message` with one sentence. Thread-safe. */
int ccurl_load(char *_Nonnull message, size_t size);
/* "7.88.1 OpenSSL/3.0.19"; after ccurl_load. */
const char *_Nonnull ccurl_version(void);
/* Whether the machine has a file of authorities; known after the first TLS handshake. */
int ccurl_has_system_authorities(void);

/* Takes the certificates of a PEM text. Returns NULL and fills `message` if one cannot be read. After ccurl_load; thread-safe. */
ccurl_trust *_Nullable ccurl_trust_make(const void *_Nonnull pem, size_t count, char *_Nonnull message, size_t size);
/* No transfer that began with it may be running. */
void ccurl_trust_free(ccurl_trust *_Nullable trust);

typedef struct {
    /* `scheme://host:port/`: where to connect. `target`: the path and query, sent as they are. */
    const char *_Nonnull origin, *_Nonnull target, *_Nonnull method;
    /* `Name: value` lines, each zero-terminated, one after the other, `lines` of them. */
    const char *_Nonnull headers;
    int lines;
    /* Must stay valid until the transfer has ended. NULL for none. */
    const void *_Nullable body;
    int64_t body_count;
    /* Whether the lines name these; libcurl would add its own. */
    int has_content_type, has_accept;
    int64_t connect_ms;
    /* Seconds that an unused connection may be reused. */
    int64_t reuse_s;
    /* Whether to open a connection although there may be one. */
    int is_fresh;
    const ccurl_trust *_Nullable trust;
    /* `scheme://host:port`; NULL for none. The environment is never read. */
    const char *_Nullable proxy, *_Nullable proxy_user, *_Nullable proxy_password;
    /* Called on the thread that runs the loop. `started`: the request is about to be written to a connection; 0 stops it.
     * `received`: part of the head (is_head) or of the body; less than `count` stops it. */
    void *_Nonnull context;
    int (*_Nonnull started)(void *_Nonnull context);
    size_t (*_Nonnull received)(void *_Nonnull context, int is_head, const void *_Nonnull bytes, size_t count);
} ccurl_request;

typedef struct {
    int code; /* CURLcode */
    int status;
    int verify_result; /* of OpenSSL, X509_V_... */
    int os_error;
    int proxy_status; /* of the last CONNECT; 0 if there was none */
    char message[256];
} ccurl_result;

/* Returns NULL if there is no memory or no file descriptor. After ccurl_load. */
ccurl_loop *_Nullable ccurl_loop_make(int kept_connections);
void ccurl_loop_free(ccurl_loop *_Nullable loop);
/* Closes all connections, for good or to begin anew. No transfer may be running. */
void ccurl_loop_close(ccurl_loop *_Nonnull loop);
void ccurl_loop_renew(ccurl_loop *_Nonnull loop);
/* Thread-safe. */
void ccurl_loop_wake(ccurl_loop *_Nonnull loop);
/* Does what can be done now. */
void ccurl_loop_perform(ccurl_loop *_Nonnull loop);
/* Waits for a socket, a timer of libcurl, ccurl_loop_wake, or the end of `ms`. */
void ccurl_loop_wait(ccurl_loop *_Nonnull loop, int ms);
/* The context of an ended transfer, with its result; NULL if there is none. The transfer is out of the loop then. */
void *_Nullable ccurl_loop_ended(ccurl_loop *_Nonnull loop, ccurl_result *_Nonnull result);

ccurl_transfer *_Nullable ccurl_transfer_make(void);
/* Clears it for another request. */
void ccurl_transfer_reset(ccurl_transfer *_Nonnull transfer);
void ccurl_transfer_free(ccurl_transfer *_Nullable transfer);
/* Returns 0, or a CURLcode. */
int ccurl_transfer_start(
    ccurl_transfer *_Nonnull transfer, ccurl_loop *_Nonnull loop, const ccurl_request *_Nonnull request);
void ccurl_transfer_stop(ccurl_transfer *_Nonnull transfer, ccurl_loop *_Nonnull loop);
/* Bytes of requests and CONNECTs written so far (without a body that was sent on its own), and of this body. */
void ccurl_transfer_written(const ccurl_transfer *_Nonnull transfer, int64_t *_Nonnull head, int64_t *_Nonnull body);
/* Whether the connection that is about to be used was kept, and its peer has closed it or sent something. Newer versions of
 * libcurl do not look within a second of the last use. In `started` alone. */
int ccurl_transfer_is_stale(const ccurl_transfer *_Nonnull transfer);
/* The peer's numeric address, "" before there is one; valid until the transfer is reset. */
const char *_Nonnull ccurl_transfer_peer(const ccurl_transfer *_Nonnull transfer);

/* --- Decompression: gzip and zlib, also several gzip members in a row --- */

typedef struct ccurl_inflater ccurl_inflater;

/* Returns NULL if there is no memory or no zlib. After ccurl_load. */
ccurl_inflater *_Nullable ccurl_inflater_make(void);
void ccurl_inflater_free(ccurl_inflater *_Nullable inflater);
/* Decompresses until the data or the room is used up, or a member ends. Returns 0 if the data is damaged. */
int ccurl_inflater_read(
    ccurl_inflater *_Nonnull inflater, const void *_Nonnull data, size_t count, size_t *_Nonnull used, void *_Nonnull buffer,
    size_t size, size_t *_Nonnull written);
/* Whether the last member has ended, so that nothing is missing. */
int ccurl_inflater_is_complete(const ccurl_inflater *_Nonnull inflater);

#ifdef __cplusplus
}
#endif

#endif
