/* The functions and numbers of libcurl in use, and those of the OpenSSL and the zlib that it is linked with. */
#ifndef CCURL_LIBRARY_H
#define CCURL_LIBRARY_H

#include "ccurl.h"

#include <stddef.h>
#include <stdint.h>

typedef void CURL;
typedef void CURLM;
typedef struct curl_slist curl_slist;

struct curl_waitfd {
    int fd;
    short events, revents;
};

typedef struct {
    int msg;
    CURL *easy_handle;
    union {
        void *other;
        int result;
    } data;
} CURLMsg;

struct curl_blob {
    void *data;
    size_t len;
    unsigned flags; /* 0: libcurl keeps the pointer */
};

struct curl_sockaddr {
    int family, socktype, protocol;
    unsigned addrlen;
};

/* curl_version_info_data up to `capath`. */
typedef struct {
    int age;
    const char *version;
    unsigned version_num;
    const char *host;
    int features;
    const char *ssl_version;
    long ssl_version_num;
    const char *libz_version;
    const char *const *protocols;
    const char *ares;
    int ares_num;
    const char *libidn;
    int iconv_ver_num;
    const char *libssh_version;
    unsigned brotli_ver_num;
    const char *brotli_version;
    unsigned nghttp2_ver_num;
    const char *nghttp2_version, *quic_version, *cainfo, *capath;
} curl_version_info_data;

/* F(result, name, parameters) for each function. */
#define CURL_FUNCTIONS                                                                                                       \
    F(int, curl_global_init, (long))                                                                                         \
    F(curl_version_info_data *, curl_version_info, (int))                                                                    \
    F(CURL *, curl_easy_init, (void))                                                                                        \
    F(void, curl_easy_reset, (CURL *))                                                                                       \
    F(void, curl_easy_cleanup, (CURL *))                                                                                     \
    F(int, curl_easy_setopt, (CURL *, int, ...))                                                                             \
    F(int, curl_easy_getinfo, (CURL *, int, ...))                                                                            \
    F(const char *, curl_easy_strerror, (int))                                                                               \
    F(curl_slist *, curl_slist_append, (curl_slist *, const char *))                                                         \
    F(void, curl_slist_free_all, (curl_slist *))                                                                             \
    F(CURLM *, curl_multi_init, (void))                                                                                      \
    F(int, curl_multi_cleanup, (CURLM *))                                                                                    \
    F(int, curl_multi_setopt, (CURLM *, int, ...))                                                                           \
    F(int, curl_multi_add_handle, (CURLM *, CURL *))                                                                         \
    F(int, curl_multi_remove_handle, (CURLM *, CURL *))                                                                      \
    F(int, curl_multi_perform, (CURLM *, int *))                                                                             \
    F(CURLMsg *, curl_multi_info_read, (CURLM *, int *))                                                                     \
    F(int, curl_multi_poll, (CURLM *, struct curl_waitfd *, unsigned, int, int *))

typedef struct x509_store_st X509_STORE;
typedef struct x509_object_st X509_OBJECT;
typedef struct X509_st X509;
typedef struct ssl_ctx_st SSL_CTX;
typedef struct bio_st BIO;
typedef struct stack_st OPENSSL_STACK;
typedef int pem_password_cb(char *, int, int, void *);

#define TLS_FUNCTIONS                                                                                                        \
    F(void, SSL_CTX_set1_cert_store, (SSL_CTX *, X509_STORE *))                                                              \
    F(X509_STORE *, X509_STORE_new, (void))                                                                                  \
    F(void, X509_STORE_free, (X509_STORE *))                                                                                 \
    F(int, X509_STORE_load_locations, (X509_STORE *, const char *, const char *))                                            \
    F(int, X509_STORE_set_default_paths, (X509_STORE *))                                                                     \
    F(int, X509_STORE_set_flags, (X509_STORE *, unsigned long))                                                              \
    F(int, X509_STORE_add_cert, (X509_STORE *, X509 *))                                                                      \
    F(OPENSSL_STACK *, X509_STORE_get0_objects, (X509_STORE *))                                                              \
    F(X509 *, X509_OBJECT_get0_X509, (const X509_OBJECT *))                                                                  \
    F(int, OPENSSL_sk_num, (const OPENSSL_STACK *))                                                                          \
    F(void *, OPENSSL_sk_value, (const OPENSSL_STACK *, int))                                                                \
    F(BIO *, BIO_new_mem_buf, (const void *, int))                                                                           \
    F(int, BIO_free, (BIO *))                                                                                                \
    F(X509 *, PEM_read_bio_X509, (BIO *, X509 **, pem_password_cb *, void *))                                                \
    F(void, X509_free, (X509 *))                                                                                             \
    F(unsigned long, ERR_peek_last_error, (void))                                                                            \
    F(void, ERR_clear_error, (void))

/* zlib's, which callers allocate. */
typedef struct {
    const unsigned char *next_in;
    unsigned avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *msg;
    void *state, *zalloc, *zfree, *opaque;
    int data_type;
    unsigned long adler, reserved;
} z_stream;

#define ZLIB_FUNCTIONS                                                                                                       \
    F(int, inflateInit2_, (z_stream *, int, const char *, int))                                                              \
    F(int, inflate, (z_stream *, int))                                                                                       \
    F(int, inflateReset, (z_stream *))                                                                                       \
    F(int, inflateEnd, (z_stream *))

typedef struct {
#define F(result, name, parameters) result(*name) parameters;
    CURL_FUNCTIONS
    TLS_FUNCTIONS
    /* NULL without zlib. */
    ZLIB_FUNCTIONS
#undef F
    /* Whether the functions of TLS_FUNCTIONS are there: libcurl is linked with OpenSSL. */
    int has_openssl;
    int has_gnutls;
    /* The system's file of authorities; NULL if there is none. */
    const char *authorities;
} ccurl_library;

#define HIDDEN __attribute__((visibility("hidden")))

/* Valid once ccurl_load has returned 1. */
extern HIDDEN ccurl_library curl;

/* Sets the options of a transfer that say which authorities are trusted. Returns a CURLcode. */
HIDDEN int ccurl_trust_apply(CURL *easy, const ccurl_trust *trust);

/* Translates a CURLINFO_SSL_VERIFYRESULT to OpenSSL's numbers; 0 if it says nothing. */
HIDDEN int ccurl_verify_result(long result);

/* Numbers of the binary interface: CURLcode, CURLMcode, bits. */
enum {
    CURLE_OK = 0, CURLE_FAILED_INIT = 2, CURLE_OUT_OF_MEMORY = 27, CURLE_SSL_CERTPROBLEM = 58, CURLE_UNKNOWN_OPTION = 48,
    CURLE_NOT_BUILT_IN = 4, CURLMSG_DONE = 1, CURL_GLOBAL_DEFAULT = 3, CURLVERSION_TENTH = 9, CURLVERSION_SEVENTH = 6,
    CURL_VERSION_SSL = 1 << 2, CURL_ERROR_SIZE = 256, CURL_WAIT_POLLIN = 1,
    CURL_HTTP_VERSION_1_1 = 2, CURLHEADER_SEPARATE = 1, CURL_SSLVERSION_TLSv1_2 = 6, CURL_PREREQFUNC_OK = 0,
    CURL_PREREQFUNC_ABORT = 1, CURLAUTH_NONE = 0, CURLAUTH_BASIC = 1,
};

enum { LONG = 0, OBJECT = 10000, FUNCTION = 20000, OFFSET = 30000, BLOB = 40000 };

enum {
    CURLOPT_WRITEDATA = OBJECT + 1, CURLOPT_URL = OBJECT + 2, CURLOPT_PROXY = OBJECT + 4, CURLOPT_ERRORBUFFER = OBJECT + 10,
    CURLOPT_WRITEFUNCTION = FUNCTION + 11, CURLOPT_POSTFIELDS = OBJECT + 15, CURLOPT_HTTPHEADER = OBJECT + 23,
    CURLOPT_HEADERDATA = OBJECT + 29, CURLOPT_CUSTOMREQUEST = OBJECT + 36, CURLOPT_NOBODY = LONG + 44,
    CURLOPT_NETRC = LONG + 51, CURLOPT_FOLLOWLOCATION = LONG + 52, CURLOPT_CAINFO = OBJECT + 65,
    CURLOPT_HEADERFUNCTION = FUNCTION + 79, CURLOPT_HTTPGET = LONG + 80, CURLOPT_HTTP_VERSION = LONG + 84,
    CURLOPT_SSLVERSION = LONG + 32, CURLOPT_FRESH_CONNECT = LONG + 74, CURLOPT_CAPATH = OBJECT + 97,
    CURLOPT_BUFFERSIZE = LONG + 98, CURLOPT_NOSIGNAL = LONG + 99,
    CURLOPT_PRIVATE = OBJECT + 103, CURLOPT_HTTPAUTH = LONG + 107,
    CURLOPT_SSL_CTX_FUNCTION = FUNCTION + 108, CURLOPT_SSL_CTX_DATA = OBJECT + 109, CURLOPT_PROXYAUTH = LONG + 111,
    CURLOPT_POSTFIELDSIZE_LARGE = OFFSET + 120, CURLOPT_CONNECTTIMEOUT_MS = LONG + 156,
    CURLOPT_HTTP_CONTENT_DECODING = LONG + 158,
    CURLOPT_OPENSOCKETFUNCTION = FUNCTION + 163, CURLOPT_OPENSOCKETDATA = OBJECT + 164,
    CURLOPT_PROXYUSERNAME = OBJECT + 175, CURLOPT_PROXYPASSWORD = OBJECT + 176,
    CURLOPT_NOPROXY = OBJECT + 177, CURLOPT_HEADEROPT = LONG + 229, CURLOPT_PATH_AS_IS = LONG + 234,
    CURLOPT_PROXY_CAINFO = OBJECT + 246, CURLOPT_PROXY_CAPATH = OBJECT + 247, CURLOPT_PROXY_SSLVERSION = LONG + 250,
    CURLOPT_SUPPRESS_CONNECT_HEADERS = LONG + 265, CURLOPT_REQUEST_TARGET = OBJECT + 266,
    CURLOPT_DISALLOW_USERNAME_IN_URL = LONG + 278, CURLOPT_UPLOAD_BUFFERSIZE = LONG + 280,
    CURLOPT_HTTP09_ALLOWED = LONG + 285, CURLOPT_MAXAGE_CONN = LONG + 288, CURLOPT_PREREQFUNCTION = FUNCTION + 312,
    CURLOPT_CAINFO_BLOB = BLOB + 309, CURLOPT_PROXY_CAINFO_BLOB = BLOB + 310, CURLOPT_PREREQDATA = OBJECT + 313,
    CURLOPT_PROTOCOLS_STR = OBJECT + 318, CURLOPT_QUICK_EXIT = LONG + 322,
};

enum { CURLMOPT_PIPELINING = LONG + 3, CURLMOPT_MAXCONNECTS = LONG + 6, CURLMOPT_QUICK_EXIT = LONG + 21 };

enum {
    CURLINFO_RESPONSE_CODE = 0x200000 + 2, CURLINFO_REQUEST_SIZE = 0x200000 + 12, CURLINFO_SSL_VERIFYRESULT = 0x200000 + 13,
    CURLINFO_PRIVATE = 0x100000 + 21, CURLINFO_HTTP_CONNECTCODE = 0x200000 + 22, CURLINFO_OS_ERRNO = 0x200000 + 25,
    CURLINFO_ACTIVESOCKET = 0x500000 + 44, CURLINFO_PRIMARY_IP = 0x100000 + 32, CURLINFO_SIZE_UPLOAD_T = 0x600000 + 7,
};

#endif
