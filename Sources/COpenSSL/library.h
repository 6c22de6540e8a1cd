/* The functions of libcrypto and libssl in use, with OpenSSL's types. A program that links OpenSSL as well sees none of this. */
#ifndef TUREEN_OPENSSL_LIBRARY_H
#define TUREEN_OPENSSL_LIBRARY_H

#include "copenssl.h"

#include <stddef.h>
#include <stdint.h>

typedef struct evp_md_st EVP_MD;
typedef struct evp_md_ctx_st EVP_MD_CTX;
typedef struct evp_pkey_st EVP_PKEY;
typedef struct evp_pkey_ctx_st EVP_PKEY_CTX;
typedef struct evp_cipher_st EVP_CIPHER;
typedef struct engine_st ENGINE;
typedef struct ossl_lib_ctx_st OSSL_LIB_CTX;
typedef struct ossl_init_settings_st OPENSSL_INIT_SETTINGS;
typedef struct bio_st BIO;
typedef struct bio_method_st BIO_METHOD;
typedef struct bignum_st BIGNUM;
typedef struct X509_st X509;
typedef struct X509_name_st X509_NAME;
typedef struct X509_extension_st X509_EXTENSION;
typedef struct X509_req_st X509_REQ;
typedef struct X509_crl_st X509_CRL;
typedef struct asn1_string_st ASN1_INTEGER;
typedef struct asn1_string_st ASN1_TIME;
typedef struct lhash_st_CONF_VALUE LHASH_OF_CONF_VALUE;
typedef struct ssl_st SSL;
typedef struct ssl_ctx_st SSL_CTX;
typedef struct ssl_method_st SSL_METHOD;
typedef int pem_password_cb(char *, int, int, void *);
typedef int (*SSL_CTX_alpn_select_cb_func)(
    SSL *, const unsigned char **, unsigned char *, const unsigned char *, unsigned int, void *);

/* OpenSSL's v3_ext_ctx, which callers allocate. */
typedef struct v3_ext_ctx {
    int flags;
    X509 *issuer_cert, *subject_cert;
    X509_REQ *subject_req;
    X509_CRL *crl;
    void *db_meth, *db;
    EVP_PKEY *issuer_pkey;
} X509V3_CTX;

/* F(result, name, parameters) for each function. */
#define CRYPTO_FUNCTIONS                                                                                                     \
    F(int, OPENSSL_init_crypto, (uint64_t, const OPENSSL_INIT_SETTINGS *))                                                   \
    F(unsigned long, ERR_peek_last_error, (void))                                                                            \
    F(void, ERR_clear_error, (void))                                                                                         \
    F(const char *, ERR_reason_error_string, (unsigned long))                                                                \
    F(void, CRYPTO_free, (void *, const char *, int))                                                                        \
    F(EVP_MD *, EVP_MD_fetch, (OSSL_LIB_CTX *, const char *, const char *))                                                  \
    F(int, EVP_Digest, (const void *, size_t, unsigned char *, unsigned int *, const EVP_MD *, ENGINE *))                    \
    F(unsigned char *, HMAC,                                                                                                 \
      (const EVP_MD *, const void *, int, const unsigned char *, size_t, unsigned char *, unsigned int *))                   \
    F(EVP_MD_CTX *, EVP_MD_CTX_new, (void))                                                                                  \
    F(void, EVP_MD_CTX_free, (EVP_MD_CTX *))                                                                                 \
    F(int, EVP_DigestSignInit, (EVP_MD_CTX *, EVP_PKEY_CTX **, const EVP_MD *, ENGINE *, EVP_PKEY *))                        \
    F(int, EVP_DigestSign, (EVP_MD_CTX *, unsigned char *, size_t *, const unsigned char *, size_t))                         \
    F(int, EVP_DigestVerifyInit, (EVP_MD_CTX *, EVP_PKEY_CTX **, const EVP_MD *, ENGINE *, EVP_PKEY *))                      \
    F(int, EVP_DigestVerify, (EVP_MD_CTX *, const unsigned char *, size_t, const unsigned char *, size_t))                   \
    F(EVP_PKEY *, EVP_PKEY_Q_keygen, (OSSL_LIB_CTX *, const char *, const char *, ...))                                      \
    F(void, EVP_PKEY_free, (EVP_PKEY *))                                                                                     \
    F(int, EVP_PKEY_is_a, (const EVP_PKEY *, const char *))                                                                  \
    F(int, EVP_PKEY_get_bits, (const EVP_PKEY *))                                                                            \
    F(int, EVP_PKEY_get_bn_param, (const EVP_PKEY *, const char *, BIGNUM **))                                               \
    F(int, BN_num_bits, (const BIGNUM *))                                                                                    \
    F(int, BN_bn2bin, (const BIGNUM *, unsigned char *))                                                                     \
    F(void, BN_free, (BIGNUM *))                                                                                             \
    F(BIO *, BIO_new, (const BIO_METHOD *))                                                                                  \
    F(const BIO_METHOD *, BIO_s_mem, (void))                                                                                 \
    F(BIO *, BIO_new_mem_buf, (const void *, int))                                                                           \
    F(int, BIO_free, (BIO *))                                                                                                \
    F(int, BIO_read, (BIO *, void *, int))                                                                                   \
    F(int, BIO_write, (BIO *, const void *, int))                                                                            \
    F(size_t, BIO_ctrl_pending, (BIO *))                                                                                     \
    F(X509 *, PEM_read_bio_X509, (BIO *, X509 **, pem_password_cb *, void *))                                                \
    F(int, PEM_write_bio_X509, (BIO *, const X509 *))                                                                        \
    F(EVP_PKEY *, PEM_read_bio_PrivateKey, (BIO *, EVP_PKEY **, pem_password_cb *, void *))                                  \
    F(EVP_PKEY *, PEM_read_bio_PUBKEY, (BIO *, EVP_PKEY **, pem_password_cb *, void *))                                      \
    F(int, PEM_write_bio_PUBKEY, (BIO *, const EVP_PKEY *))                                                                  \
    F(int, PEM_write_bio_PKCS8PrivateKey,                                                                                    \
      (BIO *, const EVP_PKEY *, const EVP_CIPHER *, const char *, int, pem_password_cb *, void *))                           \
    F(int, RAND_bytes, (unsigned char *, int))                                                                               \
    F(X509 *, X509_new, (void))                                                                                              \
    F(void, X509_free, (X509 *))                                                                                             \
    F(int, X509_set_version, (X509 *, long))                                                                                 \
    F(ASN1_INTEGER *, X509_get_serialNumber, (X509 *))                                                                       \
    F(int, ASN1_INTEGER_set_uint64, (ASN1_INTEGER *, uint64_t))                                                              \
    F(ASN1_TIME *, X509_getm_notBefore, (const X509 *))                                                                      \
    F(ASN1_TIME *, X509_getm_notAfter, (const X509 *))                                                                       \
    F(const ASN1_TIME *, X509_get0_notAfter, (const X509 *))                                                                 \
    F(ASN1_TIME *, X509_gmtime_adj, (ASN1_TIME *, long))                                                                     \
    F(int, ASN1_TIME_diff, (int *, int *, const ASN1_TIME *, const ASN1_TIME *))                                             \
    F(int, X509_set_pubkey, (X509 *, EVP_PKEY *))                                                                            \
    F(EVP_PKEY *, X509_get_pubkey, (X509 *))                                                                                 \
    F(X509_NAME *, X509_get_subject_name, (const X509 *))                                                                    \
    F(int, X509_set_issuer_name, (X509 *, const X509_NAME *))                                                                \
    F(int, X509_NAME_add_entry_by_txt, (X509_NAME *, const char *, int, const unsigned char *, int, int, int))               \
    F(void, X509V3_set_ctx, (X509V3_CTX *, X509 *, X509 *, X509_REQ *, X509_CRL *, int))                                     \
    F(X509_EXTENSION *, X509V3_EXT_conf, (LHASH_OF_CONF_VALUE *, X509V3_CTX *, const char *, const char *))                  \
    F(int, X509_add_ext, (X509 *, X509_EXTENSION *, int))                                                                    \
    F(void, X509_EXTENSION_free, (X509_EXTENSION *))                                                                         \
    F(int, X509_sign, (X509 *, EVP_PKEY *, const EVP_MD *))

#define SSL_FUNCTIONS                                                                                                        \
    F(const SSL_METHOD *, TLS_server_method, (void))                                                                         \
    F(SSL_CTX *, SSL_CTX_new, (const SSL_METHOD *))                                                                          \
    F(void, SSL_CTX_free, (SSL_CTX *))                                                                                       \
    F(long, SSL_CTX_ctrl, (SSL_CTX *, int, long, void *))                                                                    \
    F(uint64_t, SSL_CTX_set_options, (SSL_CTX *, uint64_t))                                                                  \
    F(int, SSL_CTX_use_certificate, (SSL_CTX *, X509 *))                                                                     \
    F(int, SSL_CTX_use_PrivateKey, (SSL_CTX *, EVP_PKEY *))                                                                  \
    F(int, SSL_CTX_check_private_key, (const SSL_CTX *))                                                                     \
    F(void, SSL_CTX_set_alpn_select_cb, (SSL_CTX *, SSL_CTX_alpn_select_cb_func, void *))                                    \
    F(SSL *, SSL_new, (SSL_CTX *))                                                                                           \
    F(void, SSL_free, (SSL *))                                                                                               \
    F(void, SSL_set_bio, (SSL *, BIO *, BIO *))                                                                              \
    F(void, SSL_set_accept_state, (SSL *))                                                                                   \
    F(int, SSL_read, (SSL *, void *, int))                                                                                   \
    F(int, SSL_write, (SSL *, const void *, int))                                                                            \
    F(int, SSL_get_error, (const SSL *, int))                                                                                \
    F(int, SSL_shutdown, (SSL *))                                                                                            \
    F(int, SSL_is_init_finished, (const SSL *))

typedef struct {
#define F(result, name, parameters) result(*name) parameters;
    CRYPTO_FUNCTIONS
    SSL_FUNCTIONS
#undef F
    /* Fetched once; `md5` is NULL where the system's policy forbids it. */
    EVP_MD *sha256, *md5;
} tureen_openssl_library;

#define HIDDEN __attribute__((visibility("hidden")))

/* Valid once tureen_load_crypto or tureen_load_ssl has returned 1; functions of libssl after the latter alone. */
extern HIDDEN tureen_openssl_library openssl;

/* Returns 1 if the library is loaded; otherwise 0 and fills `message`. Thread-safe. */
HIDDEN int tureen_load_crypto(char *message, size_t size);
HIDDEN int tureen_load_ssl(char *message, size_t size);

/* Fills `message` with what failed and OpenSSL's reason, and empties the error queue. Returns 0. */
HIDDEN int tureen_openssl_failed(const char *what, char *message, size_t size);
/* The same without OpenSSL's reason, where it misleads. */
HIDDEN int tureen_openssl_refused(const char *what, char *message, size_t size);
/* Takes all bytes of a memory BIO and frees it. Returns 0 if it is empty or there is no memory. */
HIDDEN int tureen_bio_take(BIO *bio, tureen_bytes *out);
/* Asks for no pass phrase. */
HIDDEN int tureen_no_pass_phrase(char *buffer, int size, int is_writing, void *context);
/* Whether the last error is the end of the blocks of a PEM text. */
HIDDEN int tureen_pem_is_at_end(void);

#endif
