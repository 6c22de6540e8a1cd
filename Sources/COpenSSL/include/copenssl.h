/* OpenSSL 3, loaded at run time: digests, RS256, certificates, and the server's side of TLS. Neither its headers nor a link to it
 * are needed to build, and the system's updates mend it.
 *
 * Each function loads what it needs on its first call. What can fail fills `message` with one sentence of at most `size` bytes,
 * which names the package to install if the library is missing. No function prints, and none keeps OpenSSL's error queue.
 * Thread-safe, but for one tureen_tls, which belongs to one thread at a time. Source: OpenSSL 3.0, doc/man3. */
#ifndef COPENSSL_H
#define COPENSSL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes from malloc, which the caller frees. */
typedef struct {
    unsigned char *_Nullable data;
    size_t count;
} tureen_bytes;

/* --- Digests --- */

enum { TUREEN_SHA256_BYTES = 32, TUREEN_MD5_BYTES = 16 };

/* Returns 1, or 0 and fills `message`. `data` may be NULL if `count` is 0. */
int tureen_digest_sha256(
    const void *_Nullable data, size_t count, unsigned char *_Nonnull digest, char *_Nonnull message, size_t size);
int tureen_digest_md5(
    const void *_Nullable data, size_t count, unsigned char *_Nonnull digest, char *_Nonnull message, size_t size);
/* HMAC with SHA-256. The key has at most 64 MiB. */
int tureen_hmac_sha256(
    const void *_Nullable key, size_t key_count, const void *_Nullable data, size_t count, unsigned char *_Nonnull code,
    char *_Nonnull message, size_t size);

/* --- Keys --- */

/* A private or a public key. It is never changed. */
typedef struct tureen_key tureen_key;

/* Reads the first private key without a pass phrase of a PEM text: PKCS#8, or the older forms of RSA and EC. Returns NULL and
 * fills `message` if there is none. */
tureen_key *_Nullable tureen_key_read_private(
    const void *_Nonnull pem, size_t count, char *_Nonnull message, size_t size);
/* Reads the key of the first certificate, or else the first public key, of a PEM text. */
tureen_key *_Nullable tureen_key_read_public(const void *_Nonnull pem, size_t count, char *_Nonnull message, size_t size);
tureen_key *_Nullable tureen_key_make_rsa(unsigned bits, char *_Nonnull message, size_t size);
/* On the curve P-256. */
tureen_key *_Nullable tureen_key_make_ec(char *_Nonnull message, size_t size);
void tureen_key_free(tureen_key *_Nullable key);

/* Whether it is a key for RS256, and not one restricted to RSA-PSS. */
int tureen_key_is_rsa(const tureen_key *_Nonnull key);
int tureen_key_bits(const tureen_key *_Nonnull key);
/* PEM, without a pass phrase: PKCS#8, and SubjectPublicKeyInfo. */
int tureen_key_write_private(
    const tureen_key *_Nonnull key, tureen_bytes *_Nonnull out, char *_Nonnull message, size_t size);
int tureen_key_write_public(
    const tureen_key *_Nonnull key, tureen_bytes *_Nonnull out, char *_Nonnull message, size_t size);
/* A number of an RSA key, "n" or "e", with its most significant byte first. */
int tureen_key_number(
    const tureen_key *_Nonnull key, const char *_Nonnull name, tureen_bytes *_Nonnull out, char *_Nonnull message, size_t size);

/* Signs with RS256, and verifies the result: the numbers of a damaged key can be read but do not fit. */
int tureen_key_sign(
    const tureen_key *_Nonnull key, const void *_Nullable data, size_t count, tureen_bytes *_Nonnull signature,
    char *_Nonnull message, size_t size);
/* Returns 1 if it is the RS256 signature of the data, otherwise 0. */
int tureen_key_verify(
    const tureen_key *_Nonnull key, const void *_Nullable data, size_t count, const void *_Nullable signature,
    size_t signature_count);

/* --- Certificates --- */

typedef struct {
    /* The common name, UTF-8. */
    const char *_Nonnull subject;
    /* The names of a server, such as "DNS:localhost,IP:127.0.0.1", in OpenSSL's syntax; NULL for an authority, which may sign
     * certificates of servers only. */
    const char *_Nullable names;
    /* When it becomes valid and when it ends, in seconds from now. */
    long from, until;
} tureen_certificate_plan;

/* Makes a certificate of `key` as PEM, signed by the authority `issuer`, which is PEM, with `issuer_key`; both are NULL for a
 * certificate that signs itself. */
int tureen_certificate_make(
    const tureen_certificate_plan *_Nonnull plan, const tureen_key *_Nonnull key, const char *_Nullable issuer,
    const tureen_key *_Nullable issuer_key, tureen_bytes *_Nonnull out, char *_Nonnull message, size_t size);
/* The seconds from now to the end of the first certificate of a PEM text; negative if it is over. Returns 0 and fills `message`
 * if there is none. */
int tureen_certificate_rest(
    const char *_Nonnull pem, int64_t *_Nonnull seconds, char *_Nonnull message, size_t size);

/* --- TLS of a server, on bytes in memory --- */

typedef struct tureen_tls_context tureen_tls_context;
typedef struct tureen_tls tureen_tls;

/* For TLS 1.2 and later, and HTTP/1.1. Takes the PEM texts of a certificate with its chain and of its key. Returns NULL and fills
 * `message` if they cannot be used or do not belong together. */
tureen_tls_context *_Nullable tureen_tls_context_make(
    const char *_Nonnull chain, const char *_Nonnull key, char *_Nonnull message, size_t size);
void tureen_tls_context_free(tureen_tls_context *_Nullable context);

/* One connection; it may outlive the context. Returns NULL if there is no memory. */
tureen_tls *_Nullable tureen_tls_make(tureen_tls_context *_Nonnull context);
void tureen_tls_free(tureen_tls *_Nullable tls);

enum { TUREEN_TLS_NEEDS_MORE = 0, TUREEN_TLS_ENDED = -1, TUREEN_TLS_FAILED = -2 };

/* Takes bytes from the client. Returns 1, or 0 if there is no memory. */
int tureen_tls_feed(tureen_tls *_Nonnull tls, const void *_Nullable data, size_t count);
/* Continues the handshake, and decrypts. Returns the number of decrypted bytes, or: TUREEN_TLS_NEEDS_MORE; TUREEN_TLS_ENDED if
 * the client has announced that nothing follows; TUREEN_TLS_FAILED, after which only tureen_tls_take and tureen_tls_free are of
 * use. */
long tureen_tls_read(tureen_tls *_Nonnull tls, void *_Nonnull buffer, size_t size);
/* Whether the handshake is complete. */
int tureen_tls_is_ready(const tureen_tls *_Nonnull tls);
/* Encrypts once the handshake is complete. Returns 1 if it took all bytes. */
int tureen_tls_write(tureen_tls *_Nonnull tls, const void *_Nullable data, size_t count);
/* Announces to the client that nothing follows; reading still works. */
void tureen_tls_close(tureen_tls *_Nonnull tls);
/* The number of bytes for the client, and takes them: returns how many it has written into the buffer. */
size_t tureen_tls_waiting(const tureen_tls *_Nonnull tls);
size_t tureen_tls_take(tureen_tls *_Nonnull tls, void *_Nonnull buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
