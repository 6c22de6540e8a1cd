#include "library.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* The longest signature: of RSA with 16,384 bits, the most that OpenSSL takes. */
enum { LONGEST_SIGNATURE = 2048 };

/* A tureen_key is an EVP_PKEY. Its functions for signing count references in it, so they take it without const. */
static EVP_PKEY *pkey(const tureen_key *key) { return (EVP_PKEY *)key; }
static tureen_key *wrapped(EVP_PKEY *key) { return (tureen_key *)key; }

static tureen_key *no_key(const char *what, char *message, size_t size) {
    tureen_openssl_refused(what, message, size);
    return NULL;
}

static tureen_key *made(EVP_PKEY *key, char *message, size_t size) {
    if (!key) tureen_openssl_failed("no key can be made", message, size);
    return wrapped(key);
}

tureen_key *tureen_key_read_private(const void *pem, size_t count, char *message, size_t size) {
    if (!tureen_load_crypto(message, size)) return NULL;
    BIO *text = count <= INT_MAX ? openssl.BIO_new_mem_buf(pem, (int)count) : NULL;
    EVP_PKEY *key = text ? openssl.PEM_read_bio_PrivateKey(text, NULL, tureen_no_pass_phrase, NULL) : NULL;
    openssl.BIO_free(text);
    if (!key) return no_key("there is no private key that can be read", message, size);
    openssl.ERR_clear_error();
    return wrapped(key);
}

static EVP_PKEY *key_of_certificate(const void *pem, size_t count) {
    BIO *text = openssl.BIO_new_mem_buf(pem, (int)count);
    X509 *certificate = text ? openssl.PEM_read_bio_X509(text, NULL, tureen_no_pass_phrase, NULL) : NULL;
    EVP_PKEY *key = certificate ? openssl.X509_get_pubkey(certificate) : NULL;
    openssl.X509_free(certificate);
    openssl.BIO_free(text);
    return key;
}

tureen_key *tureen_key_read_public(const void *pem, size_t count, char *message, size_t size) {
    if (!tureen_load_crypto(message, size)) return NULL;
    EVP_PKEY *key = NULL;
    if (count <= INT_MAX && !(key = key_of_certificate(pem, count))) {
        BIO *text = openssl.BIO_new_mem_buf(pem, (int)count);
        key = text ? openssl.PEM_read_bio_PUBKEY(text, NULL, tureen_no_pass_phrase, NULL) : NULL;
        openssl.BIO_free(text);
    }
    if (!key) return no_key("there is neither a certificate nor a public key that can be read", message, size);
    openssl.ERR_clear_error();
    return wrapped(key);
}

tureen_key *tureen_key_make_rsa(unsigned bits, char *message, size_t size) {
    if (!tureen_load_crypto(message, size)) return NULL;
    return made(openssl.EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)bits), message, size);
}

tureen_key *tureen_key_make_ec(char *message, size_t size) {
    if (!tureen_load_crypto(message, size)) return NULL;
    return made(openssl.EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"), message, size);
}

void tureen_key_free(tureen_key *key) {
    if (key) openssl.EVP_PKEY_free(pkey(key));
}

int tureen_key_is_rsa(const tureen_key *key) { return openssl.EVP_PKEY_is_a(pkey(key), "RSA") == 1; }
int tureen_key_bits(const tureen_key *key) { return openssl.EVP_PKEY_get_bits(pkey(key)); }

int tureen_key_write_private(const tureen_key *key, tureen_bytes *out, char *message, size_t size) {
    BIO *text = openssl.BIO_new(openssl.BIO_s_mem());
    int is_written = text && openssl.PEM_write_bio_PKCS8PrivateKey(text, pkey(key), NULL, NULL, 0, NULL, NULL) == 1;
    if (is_written ? tureen_bio_take(text, out) : (openssl.BIO_free(text), 0)) return 1;
    return tureen_openssl_failed("the private key cannot be written", message, size);
}

int tureen_key_write_public(const tureen_key *key, tureen_bytes *out, char *message, size_t size) {
    BIO *text = openssl.BIO_new(openssl.BIO_s_mem());
    int is_written = text && openssl.PEM_write_bio_PUBKEY(text, pkey(key)) == 1;
    if (is_written ? tureen_bio_take(text, out) : (openssl.BIO_free(text), 0)) return 1;
    return tureen_openssl_failed("the public key cannot be written", message, size);
}

int tureen_key_number(const tureen_key *key, const char *name, tureen_bytes *out, char *message, size_t size) {
    BIGNUM *number = NULL;
    if (openssl.EVP_PKEY_get_bn_param(pkey(key), name, &number) != 1)
        return tureen_openssl_failed("the key has no such number", message, size);
    size_t count = ((size_t)openssl.BN_num_bits(number) + 7) / 8;
    unsigned char *data = malloc(count > 0 ? count : 1);
    if (data) openssl.BN_bn2bin(number, data);
    openssl.BN_free(number);
    if (!data) return tureen_openssl_failed("no memory", message, size);
    *out = (tureen_bytes){data, count};
    return 1;
}

static int sign(const tureen_key *key, const void *data, size_t count, unsigned char *signature, size_t *length) {
    EVP_MD_CTX *context = openssl.EVP_MD_CTX_new();
    int is_signed = context && openssl.EVP_DigestSignInit(context, NULL, openssl.sha256, NULL, pkey(key)) == 1
        && openssl.EVP_DigestSign(context, signature, length, data ? data : (const void *)"", count) == 1;
    openssl.EVP_MD_CTX_free(context);
    return is_signed;
}

int tureen_key_sign(
    const tureen_key *key, const void *data, size_t count, tureen_bytes *signature, char *message, size_t size) {
    size_t length = LONGEST_SIGNATURE;
    unsigned char *made = malloc(length);
    if (made && tureen_key_is_rsa(key) && sign(key, data, count, made, &length)
        && tureen_key_verify(key, data, count, made, length)) {
        *signature = (tureen_bytes){made, length};
        return 1;
    }
    free(made);
    return tureen_openssl_failed("the key cannot sign", message, size);
}

int tureen_key_verify(
    const tureen_key *key, const void *data, size_t count, const void *signature, size_t signature_count) {
    if (!tureen_key_is_rsa(key)) return 0;
    EVP_MD_CTX *context = openssl.EVP_MD_CTX_new();
    int is_valid = context && openssl.EVP_DigestVerifyInit(context, NULL, openssl.sha256, NULL, pkey(key)) == 1
        && openssl.EVP_DigestVerify(
               context, signature ? signature : (const void *)"", signature_count, data ? data : (const void *)"", count) == 1;
    openssl.EVP_MD_CTX_free(context);
    openssl.ERR_clear_error();
    return is_valid;
}
