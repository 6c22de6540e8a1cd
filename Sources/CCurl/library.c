#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* CURLOPT_PREREQFUNCTION came with 7.80, CURLOPT_PROTOCOLS_STR with 7.85, CURLOPT_QUICK_EXIT with 7.87. */
enum { OLDEST = 0x075700 };
/* OPENSSL_init_crypto: no clean-up at exit, where other threads may still be in the library. */
enum { INIT_NO_ATEXIT = 0x00080000 };

ccurl_library curl;

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static int is_loaded;
static char version[96];

/* Where distributions keep their authorities, for a libcurl that was built without a place. */
static const char *const usual_authorities[] = {
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
};

static const char *find_authorities(const curl_version_info_data *info) {
    if (info->age >= CURLVERSION_SEVENTH && info->cainfo && !access(info->cainfo, R_OK)) return info->cainfo;
    for (size_t i = 0; i < sizeof usual_authorities / sizeof *usual_authorities; i++) {
        if (!access(usual_authorities[i], R_OK)) return usual_authorities[i];
    }
    return NULL;
}

/* Finds the functions of the OpenSSL that this libcurl uses, and not of another one in the process. */
static int find_openssl(void *handle, const curl_version_info_data *info) {
    if (!info->ssl_version || strncmp(info->ssl_version, "OpenSSL/", 8)) return 0;
#define F(result, name, parameters)                                                                                          \
    if (!(*(void **)&curl.name = dlsym(handle, #name))) return 0;
    TLS_FUNCTIONS
#undef F
    return 1;
}

/* Finds zlib among the libraries of libcurl, or by its name. */
static void find_zlib(void *handle) {
    void *zlib = dlsym(handle, "inflateInit2_") ? handle : dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!zlib) return;
    int is_whole = 1;
#define F(result, name, parameters) is_whole = is_whole && (*(void **)&curl.name = dlsym(zlib, #name)) != NULL;
    ZLIB_FUNCTIONS
#undef F
    if (!is_whole) curl.inflateInit2_ = NULL;
}

static void *open_library(char *message, size_t size) {
    void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle) return handle;
    const char *reason = dlerror();
    snprintf(
        message, size, "requests need libcurl; install it (Debian and Ubuntu: apt install libcurl4): %s",
        reason ? reason : "libcurl.so.4");
    return dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static int load(char *message, size_t size) {
    if (is_loaded) return 1;
    /* First, because libcurl begins to use OpenSSL, too. */
    void *crypto = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    int (*init)(uint64_t, const void *) = NULL;
    if (crypto) *(void **)&init = dlsym(crypto, "OPENSSL_init_crypto");
    if (init) init(INIT_NO_ATEXIT, NULL);
    void *handle = open_library(message, size);
    if (!handle) return 0;
    const char *missing = NULL;
#define F(result, name, parameters)                                                                                          \
    if (!missing && !(*(void **)&curl.name = dlsym(handle, #name))) missing = #name;
    CURL_FUNCTIONS
#undef F
    if (missing) {
        snprintf(message, size, "libcurl is too old: it lacks %s; version 7.87 or newer is required", missing);
        return 0;
    }
    if (curl.curl_global_init(CURL_GLOBAL_DEFAULT)) {
        snprintf(message, size, "libcurl cannot be initialized");
        return 0;
    }
    const curl_version_info_data *info = curl.curl_version_info(CURLVERSION_TENTH);
    if (info->version_num < OLDEST || !(info->features & CURL_VERSION_SSL)) {
        const char *problem = info->version_num < OLDEST ? "is too old" : "cannot do TLS";
        snprintf(message, size, "libcurl %s %s; version 7.87 or newer, with TLS, is required", info->version, problem);
        return 0;
    }
    snprintf(version, sizeof version, "%s %s", info->version, info->ssl_version ? info->ssl_version : "");
    curl.has_openssl = find_openssl(handle, info);
    curl.has_gnutls = info->ssl_version && !strncmp(info->ssl_version, "GnuTLS/", 7);
    find_zlib(handle);
    curl.authorities = find_authorities(info);
    return is_loaded = 1;
}

int ccurl_load(char *message, size_t size) {
    pthread_mutex_lock(&loading);
    int loaded = load(message, size);
    pthread_mutex_unlock(&loading);
    return loaded;
}

const char *ccurl_version(void) { return version; }
