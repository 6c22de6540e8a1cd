#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* OPENSSL_init_crypto: no clean-up at exit, where other threads may still be in the library. */
enum { INIT_NO_ATEXIT = 0x00080000 };
/* Of an error's number: the library PEM, and its reason that no block follows. */
enum { LIBRARY_SHIFT = 23, LIBRARY_MASK = 0xff, REASON_MASK = 0x7fffff, PEM_LIBRARY = 9, NO_START_LINE = 108 };

tureen_openssl_library openssl;

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static int has_crypto, has_ssl;

static void *open_library(const char *name, char *message, size_t size) {
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        const char *reason = dlerror();
        snprintf(
            message, size, "digests, signatures and TLS need OpenSSL 3; install it (Debian and Ubuntu: apt install libssl3): %s",
            reason ? reason : name);
    }
    return handle;
}

static int lacks(const char *function, char *message, size_t size) {
    snprintf(message, size, "OpenSSL is too old: it lacks %s; version 3.0 or newer is required", function);
    return 0;
}

static int load_crypto(char *message, size_t size) {
    if (has_crypto) return 1;
    void *handle = open_library("libcrypto.so.3", message, size);
    if (!handle) return 0;
#define F(result, name, parameters)                                                                                          \
    if (!(*(void **)&openssl.name = dlsym(handle, #name))) return lacks(#name, message, size);
    CRYPTO_FUNCTIONS
#undef F
    openssl.OPENSSL_init_crypto(INIT_NO_ATEXIT, NULL);
    if (!openssl.sha256) openssl.sha256 = openssl.EVP_MD_fetch(NULL, "SHA256", NULL);
    if (!openssl.sha256) return tureen_openssl_failed("OpenSSL has no SHA-256", message, size);
    openssl.md5 = openssl.EVP_MD_fetch(NULL, "MD5", NULL);
    openssl.ERR_clear_error();
    return has_crypto = 1;
}

static int load_ssl(char *message, size_t size) {
    if (has_ssl) return 1;
    if (!load_crypto(message, size)) return 0;
    void *handle = open_library("libssl.so.3", message, size);
    if (!handle) return 0;
#define F(result, name, parameters)                                                                                          \
    if (!(*(void **)&openssl.name = dlsym(handle, #name))) return lacks(#name, message, size);
    SSL_FUNCTIONS
#undef F
    return has_ssl = 1;
}

int tureen_load_crypto(char *message, size_t size) {
    pthread_mutex_lock(&loading);
    int is_loaded = load_crypto(message, size);
    pthread_mutex_unlock(&loading);
    return is_loaded;
}

int tureen_load_ssl(char *message, size_t size) {
    pthread_mutex_lock(&loading);
    int is_loaded = load_ssl(message, size);
    pthread_mutex_unlock(&loading);
    return is_loaded;
}

int tureen_openssl_failed(const char *what, char *message, size_t size) {
    const char *reason = openssl.ERR_reason_error_string(openssl.ERR_peek_last_error());
    snprintf(message, size, "%s%s%s", what, reason ? ": " : "", reason ? reason : "");
    openssl.ERR_clear_error();
    return 0;
}

int tureen_openssl_refused(const char *what, char *message, size_t size) {
    openssl.ERR_clear_error();
    snprintf(message, size, "%s", what);
    return 0;
}

int tureen_bio_take(BIO *bio, tureen_bytes *out) {
    size_t count = openssl.BIO_ctrl_pending(bio);
    unsigned char *data = count > 0 ? malloc(count) : NULL;
    int is_taken = data && openssl.BIO_read(bio, data, (int)count) == (int)count;
    openssl.BIO_free(bio);
    if (!is_taken) {
        free(data);
        return 0;
    }
    *out = (tureen_bytes){data, count};
    return 1;
}

int tureen_no_pass_phrase(char *buffer, int size, int is_writing, void *context) {
    (void)buffer, (void)size, (void)is_writing, (void)context;
    return -1;
}

int tureen_pem_is_at_end(void) {
    unsigned long error = openssl.ERR_peek_last_error();
    return (error >> LIBRARY_SHIFT & LIBRARY_MASK) == PEM_LIBRARY && (error & REASON_MASK) == NO_START_LINE;
}
