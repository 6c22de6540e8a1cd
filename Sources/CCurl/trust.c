#include "library.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As libcurl sets it: an authority of the user need not be a root. */
enum { PARTIAL_CHAIN = 0x80000 };
/* Of an error's number: the library PEM, and its reason that no block follows. */
enum { LIBRARY_SHIFT = 23, LIBRARY_MASK = 0xff, REASON_MASK = 0x7fffff, PEM_LIBRARY = 9, NO_START_LINE = 108 };

struct ccurl_trust {
    /* With the system's; made for the first handshake, as most transports never need it. */
    X509_STORE *store;
    /* For a libcurl without OpenSSL: those of the system and the others as PEM. */
    char *pem;
    size_t count;
    int holds_system;
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

/* Appends the file of the system's authorities. */
static int append_system(ccurl_trust *trust) {
    FILE *file = curl.authorities ? fopen(curl.authorities, "re") : NULL;
    if (!file) return 1;
    int done = 1;
    char part[16384];
    for (size_t n; done && (n = fread(part, 1, sizeof part, file)) > 0;) {
        char *longer = realloc(trust->pem, trust->count + n);
        if ((done = longer != NULL)) {
            memcpy(longer + trust->count, part, n);
            trust->pem = longer;
            trust->count += n;
        }
    }
    fclose(file);
    return done;
}

ccurl_trust *ccurl_trust_make(const void *pem, size_t count, char *message, size_t size) {
    ccurl_trust *trust = calloc(1, sizeof *trust);
    int done = 0;
    if (trust && curl.has_openssl && count <= INT32_MAX) {
        done = (trust->store = curl.X509_STORE_new()) && add_all(trust->store, pem, count);
        if (done) curl.X509_STORE_set_flags(trust->store, PARTIAL_CHAIN);
    } else if (trust && (trust->pem = malloc(count + 1))) {
        memcpy(trust->pem, pem, count);
        trust->pem[count] = '\n';
        trust->count = count + 1;
        done = append_system(trust);
    }
    if (done) return trust;
    snprintf(message, size, "a certificate to trust cannot be read");
    ccurl_trust_free(trust);
    return NULL;
}

void ccurl_trust_free(ccurl_trust *trust) {
    if (!trust) return;
    if (trust->store) curl.X509_STORE_free(trust->store);
    free(trust->pem);
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

/* What a TLS library without proxies over TLS does not know is not needed. */
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
        return code;
    }
    /* libcurl keeps what it read for the multi handle if there is a file and no folder. */
    SET(CURLOPT_CAPATH, (char *)NULL);
    if (trust) {
        struct curl_blob blob = {trust->pem, trust->count, CURL_BLOB_NOCOPY};
        SET(CURLOPT_CAINFO_BLOB, &blob);
        if (!code) code = ignoring_unknown(curl.curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO_BLOB, &blob));
    } else if (curl.authorities) {
        SET(CURLOPT_CAINFO, curl.authorities);
        if (!code) code = ignoring_unknown(curl.curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, curl.authorities));
    }
    return code;
}
