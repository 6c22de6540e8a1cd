#define _GNU_SOURCE
#include "library.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* As libcurl sets it: an authority of the user need not be a root. */
enum { PARTIAL_CHAIN = 0x80000 };
/* Of an error's number: the library PEM, and its reason that no block follows. */
enum { LIBRARY_SHIFT = 23, LIBRARY_MASK = 0xff, REASON_MASK = 0x7fffff, PEM_LIBRARY = 9, NO_START_LINE = 108 };

/* Bits of a result of GnuTLS, and what OpenSSL has for them. */
enum { GNUTLS_CERT_SIGNER_NOT_FOUND = 1 << 6, GNUTLS_CERT_NOT_ACTIVATED = 1 << 9, GNUTLS_CERT_EXPIRED = 1 << 10 };
enum {
    X509_V_ERR_CERT_NOT_YET_VALID = 9, X509_V_ERR_CERT_HAS_EXPIRED = 10, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY = 20,
};

struct ccurl_trust {
    /* With the system's; made for the first handshake, as most transports never need it. */
    X509_STORE *store;
    int holds_system;
    /* The text, for a machine without authorities of its own. */
    char *first;
    size_t first_count;
    /* For a libcurl without OpenSSL: a file in memory with those of the system and the others, and its path. */
    int file;
    char path[32];
};

/* The system's authorities, read once: OpenSSL takes 28 ms for 140 of them, and libcurl would keep them for one multi handle. */
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;
static X509_STORE *system_store;
static int is_read, has_system_authorities = 1;

static X509_STORE *read_system_store(void) {
    if (is_read) return system_store;
    is_read = 1;
    system_store = curl.X509_STORE_new();
    if (!system_store) return NULL;
    curl.X509_STORE_set_flags(system_store, PARTIAL_CHAIN);
    int has_file = curl.authorities && curl.X509_STORE_load_locations(system_store, curl.authorities, NULL);
    /* A folder of authorities can be in the default paths; it is read certificate by certificate. */
    if (!has_file) curl.X509_STORE_set_default_paths(system_store);
    has_system_authorities = has_file;
    curl.ERR_clear_error();
    return system_store;
}

int ccurl_has_system_authorities(void) {
    if (!curl.has_openssl) return curl.authorities != NULL;
    pthread_mutex_lock(&reading);
    int has = has_system_authorities;
    pthread_mutex_unlock(&reading);
    return has;
}

/* The first certificate of the authorities, PEM. Newer versions of libcurl would read the file that they were built with, for
 * each connection, unless they are given something else. set_store puts the whole store in its place. */
static struct curl_blob placeholder;

/* Keeps the first certificate of a text. */
static void keep_placeholder(const char *text, size_t count) {
    static const char mark[] = "-----END CERTIFICATE-----";
    const char *end = placeholder.data ? NULL : memmem(text, count, mark, sizeof mark - 1);
    if (!end) return;
    size_t length = (size_t)(end - text) + sizeof mark - 1;
    char *copy = malloc(length + 1);
    if (!copy) return;
    memcpy(copy, text, length);
    copy[length] = '\n';
    placeholder = (struct curl_blob){copy, length + 1, 0};
}

static void find_placeholder(const ccurl_trust *trust) {
    static int is_found;
    if (is_found) return;
    char text[16384];
    FILE *file = curl.authorities ? fopen(curl.authorities, "re") : NULL;
    if (file) {
        keep_placeholder(text, fread(text, 1, sizeof text, file));
        fclose(file);
    }
    if (trust) keep_placeholder(trust->first, trust->first_count);
    is_found = placeholder.data != NULL;
}

/* Adds the certificates of a PEM text. Returns 0 if one cannot be read. */
static int add_all(X509_STORE *store, const void *pem, size_t count) {
    BIO *text = curl.BIO_new_mem_buf(pem, (int)count);
    if (!text) return 0;
    int added = 0;
    for (X509 *one; (one = curl.PEM_read_bio_X509(text, NULL, NULL, "")); added++) {
        curl.X509_STORE_add_cert(store, one);
        curl.X509_free(one);
    }
    unsigned long error = curl.ERR_peek_last_error();
    int is_at_end = (error >> LIBRARY_SHIFT & LIBRARY_MASK) == PEM_LIBRARY && (error & REASON_MASK) == NO_START_LINE;
    curl.ERR_clear_error();
    curl.BIO_free(text);
    return added > 0 && is_at_end;
}

static int append(int file, const void *bytes, size_t count) {
    const char *rest = bytes;
    while (count > 0) {
        ssize_t written = write(file, rest, count);
        if (written <= 0) return 0;
        rest += written;
        count -= (size_t)written;
    }
    return 1;
}

/* Writes all authorities into a file in memory. */
static int make_file(ccurl_trust *trust, const void *pem, size_t count) {
    trust->file = memfd_create("authorities", MFD_CLOEXEC);
    if (trust->file < 0) return 0;
    snprintf(trust->path, sizeof trust->path, "/proc/self/fd/%d", trust->file);
    int done = append(trust->file, pem, count) && append(trust->file, "\n", 1);
    FILE *system = curl.authorities ? fopen(curl.authorities, "re") : NULL;
    char part[16384];
    for (size_t n; system && done && (n = fread(part, 1, sizeof part, system)) > 0;) done = append(trust->file, part, n);
    if (system) fclose(system);
    return done;
}

ccurl_trust *ccurl_trust_make(const void *pem, size_t count, char *message, size_t size) {
    ccurl_trust *trust = calloc(1, sizeof *trust);
    int done = 0;
    if (trust) trust->file = -1;
    if (trust && curl.has_openssl && count <= INT32_MAX) {
        done = (trust->store = curl.X509_STORE_new()) && add_all(trust->store, pem, count);
        if (done) curl.X509_STORE_set_flags(trust->store, PARTIAL_CHAIN);
        if (done && (trust->first = malloc(count))) trust->first_count = count, memcpy(trust->first, pem, count);
    } else if (trust) {
        done = make_file(trust, pem, count);
    }
    if (done) return trust;
    snprintf(message, size, "a certificate to trust cannot be read");
    ccurl_trust_free(trust);
    return NULL;
}

void ccurl_trust_free(ccurl_trust *trust) {
    if (!trust) return;
    if (trust->store) curl.X509_STORE_free(trust->store);
    if (trust->file >= 0) close(trust->file);
    free(trust->first);
    free(trust);
}

/* The certificates themselves are shared, not copied. */
static void add_system(ccurl_trust *trust, X509_STORE *system) {
    OPENSSL_STACK *objects = curl.X509_STORE_get0_objects(system);
    for (int i = 0, n = curl.OPENSSL_sk_num(objects); i < n; i++) {
        X509 *one = curl.X509_OBJECT_get0_X509(curl.OPENSSL_sk_value(objects, i));
        if (one) curl.X509_STORE_add_cert(trust->store, one);
    }
    curl.ERR_clear_error();
    trust->holds_system = 1;
}

/* CURLOPT_SSL_CTX_FUNCTION: called for each TLS connection, on the loop's thread. */
static int set_store(CURL *easy, void *context, void *argument) {
    (void)easy;
    ccurl_trust *trust = argument;
    pthread_mutex_lock(&reading);
    X509_STORE *store = read_system_store();
    if (store && trust) {
        if (!trust->holds_system) add_system(trust, store);
        store = trust->store;
    }
    pthread_mutex_unlock(&reading);
    if (!store) return CURLE_OUT_OF_MEMORY;
    curl.SSL_CTX_set1_cert_store(context, store);
    return CURLE_OK;
}

#define SET(option, value) do { if (!code) code = curl.curl_easy_setopt(easy, option, value); } while (0)

/* A TLS library that cannot reach a proxy over TLS does not know the options of one. */
static int ignoring_unknown(int code) { return code == CURLE_UNKNOWN_OPTION || code == CURLE_NOT_BUILT_IN ? CURLE_OK : code; }

int ccurl_trust_apply(CURL *easy, const ccurl_trust *trust) {
    int code = CURLE_OK;
    if (curl.has_openssl) {
        SET(CURLOPT_CAINFO, (char *)NULL);
        SET(CURLOPT_CAPATH, (char *)NULL);
        SET(CURLOPT_PROXY_CAINFO, (char *)NULL);
        SET(CURLOPT_PROXY_CAPATH, (char *)NULL);
        SET(CURLOPT_SSL_CTX_FUNCTION, set_store);
        SET(CURLOPT_SSL_CTX_DATA, trust);
        pthread_mutex_lock(&reading);
        find_placeholder(trust);
        pthread_mutex_unlock(&reading);
        if (code || !placeholder.data) return code;
        SET(CURLOPT_CAINFO_BLOB, &placeholder);
        SET(CURLOPT_PROXY_CAINFO_BLOB, &placeholder);
        return code;
    }
    /* libcurl keeps what it read for the multi handle if there is a file and no folder. */
    const char *authorities = trust ? trust->path : curl.authorities;
    SET(CURLOPT_CAPATH, (char *)NULL);
    SET(CURLOPT_CAINFO, authorities);
    if (!code) code = ignoring_unknown(curl.curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, authorities));
    return code;
}

int ccurl_verify_result(long result) {
    if (curl.has_openssl) return (int)result;
    if (!curl.has_gnutls) return 0;
    if (result & GNUTLS_CERT_EXPIRED) return X509_V_ERR_CERT_HAS_EXPIRED;
    if (result & GNUTLS_CERT_NOT_ACTIVATED) return X509_V_ERR_CERT_NOT_YET_VALID;
    return result & GNUTLS_CERT_SIGNER_NOT_FOUND ? X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY : 0;
}
