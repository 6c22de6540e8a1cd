#include "library.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Commands of SSL_CTX_ctrl; part of the binary interface. */
enum { EXTRA_CHAIN_CERTIFICATE = 14, MODE = 33, SESSION_CACHE_MODE = 44, SET_LEAST_VERSION = 123, GET_LEAST_VERSION = 130 };
enum { TLS_1_2 = 0x0303, RELEASE_BUFFERS = 0x10, NO_SESSION_CACHE = 0 };
#define NO_RENEGOTIATION ((uint64_t)1 << 30)
enum { WANTS_READ = 2, WANTS_WRITE = 3, ZERO_RETURN = 6 };
enum { ALPN_OK = 0, ALPN_NO_ANSWER = 3 };

struct tureen_tls_context {
    SSL_CTX *settings;
};

struct tureen_tls {
    SSL *ssl;
    /* From and to the client; they belong to `ssl`. */
    BIO *in, *out;
    /* After a failure OpenSSL must not be asked for a farewell. */
    int has_failed;
};

/* Chooses HTTP/1.1 from what a client offers: a list of names, each after a byte with its length. */
static int choose_protocol(
    SSL *ssl, const unsigned char **chosen, unsigned char *length, const unsigned char *offered, unsigned count, void *context) {
    (void)ssl, (void)context;
    static const char known[] = "http/1.1";
    for (unsigned i = 0; i < count; i += offered[i] + 1u) {
        if (offered[i] != sizeof known - 1 || i + sizeof known > count || memcmp(offered + i + 1, known, sizeof known - 1) != 0)
            continue;
        *chosen = offered + i + 1;
        *length = sizeof known - 1;
        return ALPN_OK;
    }
    return ALPN_NO_ANSWER;
}

static int use_chain(SSL_CTX *settings, const char *chain, char *message, size_t size) {
    BIO *text = openssl.BIO_new_mem_buf(chain, -1);
    int count = 0, is_used = text != NULL;
    X509 *certificate;
    while (is_used && (certificate = openssl.PEM_read_bio_X509(text, NULL, tureen_no_pass_phrase, NULL))) {
        if (count++ == 0) {
            is_used = openssl.SSL_CTX_use_certificate(settings, certificate) == 1;
            openssl.X509_free(certificate);
        } else if (openssl.SSL_CTX_ctrl(settings, EXTRA_CHAIN_CERTIFICATE, 0, certificate) != 1) {
            /* On success the settings own it. */
            is_used = 0;
            openssl.X509_free(certificate);
        }
    }
    openssl.BIO_free(text);
    if (count == 0 && tureen_pem_is_at_end()) return tureen_openssl_refused("the file has no certificate", message, size);
    if (count == 0 || !is_used || !tureen_pem_is_at_end())
        return tureen_openssl_failed("a certificate of the file cannot be used", message, size);
    openssl.ERR_clear_error();
    return 1;
}

static int use_key(SSL_CTX *settings, const char *pem, char *message, size_t size) {
    BIO *text = openssl.BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = text ? openssl.PEM_read_bio_PrivateKey(text, NULL, tureen_no_pass_phrase, NULL) : NULL;
    openssl.BIO_free(text);
    if (!key) return tureen_openssl_refused("the file has no private key that can be read without a pass phrase", message, size);
    int fits = openssl.SSL_CTX_use_PrivateKey(settings, key) == 1 && openssl.SSL_CTX_check_private_key(settings) == 1;
    openssl.EVP_PKEY_free(key);
    if (!fits) return tureen_openssl_refused("the key does not belong to the certificate", message, size);
    openssl.ERR_clear_error();
    return 1;
}

tureen_tls_context *tureen_tls_context_make(const char *chain, const char *key, char *message, size_t size) {
    if (!tureen_load_ssl(message, size)) return NULL;
    tureen_tls_context *context = calloc(1, sizeof *context);
    if (!context || !(context->settings = openssl.SSL_CTX_new(openssl.TLS_server_method()))) {
        free(context);
        tureen_openssl_failed("no memory", message, size);
        return NULL;
    }
    SSL_CTX *settings = context->settings;
    /* The system's policy may demand more. */
    if (openssl.SSL_CTX_ctrl(settings, GET_LEAST_VERSION, 0, NULL) < TLS_1_2)
        openssl.SSL_CTX_ctrl(settings, SET_LEAST_VERSION, TLS_1_2, NULL);
    openssl.SSL_CTX_ctrl(settings, MODE, RELEASE_BUFFERS, NULL);
    /* Clients resume with tickets, for which the server keeps nothing. */
    openssl.SSL_CTX_ctrl(settings, SESSION_CACHE_MODE, NO_SESSION_CACHE, NULL);
    openssl.SSL_CTX_set_options(settings, NO_RENEGOTIATION);
    openssl.SSL_CTX_set_alpn_select_cb(settings, choose_protocol, NULL);
    if (use_chain(settings, chain, message, size) && use_key(settings, key, message, size)) return context;
    tureen_tls_context_free(context);
    return NULL;
}

void tureen_tls_context_free(tureen_tls_context *context) {
    if (!context) return;
    openssl.SSL_CTX_free(context->settings);
    free(context);
}

tureen_tls *tureen_tls_make(tureen_tls_context *context) {
    tureen_tls *tls = calloc(1, sizeof *tls);
    if (!tls) return NULL;
    tls->ssl = openssl.SSL_new(context->settings);
    tls->in = openssl.BIO_new(openssl.BIO_s_mem());
    tls->out = openssl.BIO_new(openssl.BIO_s_mem());
    if (!tls->ssl || !tls->in || !tls->out) {
        openssl.BIO_free(tls->in);
        openssl.BIO_free(tls->out);
        openssl.SSL_free(tls->ssl);
        openssl.ERR_clear_error();
        free(tls);
        return NULL;
    }
    openssl.SSL_set_bio(tls->ssl, tls->in, tls->out);
    openssl.SSL_set_accept_state(tls->ssl);
    return tls;
}

void tureen_tls_free(tureen_tls *tls) {
    if (!tls) return;
    openssl.SSL_free(tls->ssl);
    free(tls);
}

int tureen_tls_feed(tureen_tls *tls, const void *data, size_t count) {
    if (count == 0) return 1;
    return count <= INT_MAX && openssl.BIO_write(tls->in, data, (int)count) == (int)count;
}

long tureen_tls_read(tureen_tls *tls, void *buffer, size_t size) {
    if (tls->has_failed) return TUREEN_TLS_FAILED;
    openssl.ERR_clear_error();
    int count = openssl.SSL_read(tls->ssl, buffer, size > INT_MAX ? INT_MAX : (int)size);
    if (count > 0) return count;
    int reason = openssl.SSL_get_error(tls->ssl, count);
    openssl.ERR_clear_error();
    if (reason == WANTS_READ || reason == WANTS_WRITE) return TUREEN_TLS_NEEDS_MORE;
    if (reason == ZERO_RETURN) return TUREEN_TLS_ENDED;
    tls->has_failed = 1;
    return TUREEN_TLS_FAILED;
}

int tureen_tls_is_ready(const tureen_tls *tls) { return !tls->has_failed && openssl.SSL_is_init_finished(tls->ssl) == 1; }

int tureen_tls_write(tureen_tls *tls, const void *data, size_t count) {
    if (count == 0) return 1;
    if (tls->has_failed || count > INT_MAX) return 0;
    openssl.ERR_clear_error();
    /* Memory always takes all. */
    int is_written = openssl.SSL_write(tls->ssl, data, (int)count) == (int)count;
    if (!is_written) tls->has_failed = 1;
    openssl.ERR_clear_error();
    return is_written;
}

void tureen_tls_close(tureen_tls *tls) {
    if (!tureen_tls_is_ready(tls)) return;
    openssl.SSL_shutdown(tls->ssl);
    openssl.ERR_clear_error();
}

size_t tureen_tls_waiting(const tureen_tls *tls) { return openssl.BIO_ctrl_pending(tls->out); }

size_t tureen_tls_take(tureen_tls *tls, void *buffer, size_t size) {
    int count = size > 0 ? openssl.BIO_read(tls->out, buffer, size > INT_MAX ? INT_MAX : (int)size) : 0;
    return count > 0 ? (size_t)count : 0;
}
