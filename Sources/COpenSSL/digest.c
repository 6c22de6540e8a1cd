#include "library.h"

#include <stdio.h>

enum { LONGEST_KEY = 64 * 1024 * 1024 };

static int digest(
    const EVP_MD *kind, const void *data, size_t count, unsigned char *digest, char *message, size_t size) {
    unsigned length = 0;
    if (openssl.EVP_Digest(data ? data : "", count, digest, &length, kind, NULL) == 1) return 1;
    return tureen_openssl_failed("the digest cannot be computed", message, size);
}

int tureen_digest_sha256(const void *data, size_t count, unsigned char *out, char *message, size_t size) {
    return tureen_load_crypto(message, size) && digest(openssl.sha256, data, count, out, message, size);
}

int tureen_digest_md5(const void *data, size_t count, unsigned char *out, char *message, size_t size) {
    if (!tureen_load_crypto(message, size)) return 0;
    if (openssl.md5) return digest(openssl.md5, data, count, out, message, size);
    snprintf(message, size, "this system's OpenSSL forbids MD5");
    return 0;
}

int tureen_hmac_sha256(
    const void *key, size_t key_count, const void *data, size_t count, unsigned char *code, char *message, size_t size) {
    if (!tureen_load_crypto(message, size)) return 0;
    unsigned length = 0;
    if (key_count <= LONGEST_KEY
        && openssl.HMAC(openssl.sha256, key ? key : "", (int)key_count, data ? data : "", count, code, &length))
        return 1;
    return tureen_openssl_failed("the authentication code cannot be computed", message, size);
}
