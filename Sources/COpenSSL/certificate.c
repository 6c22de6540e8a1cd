#include "library.h"

#include <stdio.h>
#include <string.h>

/* X.509 version 3, and the kind of a text. */
enum { VERSION_3 = 2, UTF8_TEXT = 0x1000 };

static int extend(X509 *certificate, X509 *issuer, const char *name, const char *value) {
    X509V3_CTX context;
    memset(&context, 0, sizeof context);
    openssl.X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = openssl.X509V3_EXT_conf(NULL, &context, name, value);
    int is_added = extension && openssl.X509_add_ext(certificate, extension, -1) == 1;
    if (extension) openssl.X509_EXTENSION_free(extension);
    return is_added;
}

static int extend_authority(X509 *certificate) {
    return extend(certificate, certificate, "basicConstraints", "critical,CA:TRUE,pathlen:0")
        && extend(certificate, certificate, "keyUsage", "critical,keyCertSign,cRLSign")
        && extend(certificate, certificate, "subjectKeyIdentifier", "hash");
}

static int extend_server(X509 *certificate, X509 *issuer, const char *names) {
    return extend(certificate, issuer, "basicConstraints", "critical,CA:FALSE")
        && extend(certificate, issuer, "keyUsage", "critical,digitalSignature")
        && extend(certificate, issuer, "extendedKeyUsage", "serverAuth") && extend(certificate, issuer, "subjectAltName", names)
        && extend(certificate, issuer, "subjectKeyIdentifier", "hash")
        && extend(certificate, issuer, "authorityKeyIdentifier", "keyid:always");
}

static int fill(X509 *certificate, const tureen_certificate_plan *plan, EVP_PKEY *key, X509 *issuer) {
    uint64_t serial = 0;
    X509_NAME *subject = openssl.X509_get_subject_name(certificate);
    /* A serial number is positive and at most 20 bytes long. */
    return openssl.RAND_bytes((unsigned char *)&serial, sizeof serial) == 1
        && openssl.X509_set_version(certificate, VERSION_3) == 1
        && openssl.ASN1_INTEGER_set_uint64(openssl.X509_get_serialNumber(certificate), (serial >> 1) | 1) == 1
        && openssl.X509_gmtime_adj(openssl.X509_getm_notBefore(certificate), plan->from)
        && openssl.X509_gmtime_adj(openssl.X509_getm_notAfter(certificate), plan->until)
        && openssl.X509_set_pubkey(certificate, key) == 1
        && openssl.X509_NAME_add_entry_by_txt(
               subject, "CN", UTF8_TEXT, (const unsigned char *)plan->subject, -1, -1, 0) == 1
        && openssl.X509_set_issuer_name(certificate, openssl.X509_get_subject_name(issuer)) == 1
        && (plan->names ? extend_server(certificate, issuer, plan->names) : extend_authority(certificate));
}

static X509 *read_first(const char *pem) {
    BIO *text = openssl.BIO_new_mem_buf(pem, -1);
    X509 *certificate = text ? openssl.PEM_read_bio_X509(text, NULL, tureen_no_pass_phrase, NULL) : NULL;
    openssl.BIO_free(text);
    return certificate;
}

static int write_pem(const X509 *certificate, tureen_bytes *out) {
    BIO *text = openssl.BIO_new(openssl.BIO_s_mem());
    int is_written = text && openssl.PEM_write_bio_X509(text, certificate) == 1;
    return is_written ? tureen_bio_take(text, out) : (openssl.BIO_free(text), 0);
}

int tureen_certificate_make(
    const tureen_certificate_plan *plan, const tureen_key *key, const char *issuer, const tureen_key *issuer_key,
    tureen_bytes *out, char *message, size_t size) {
    if (!tureen_load_crypto(message, size)) return 0;
    EVP_PKEY *own = (EVP_PKEY *)key, *signer = issuer_key ? (EVP_PKEY *)issuer_key : own;
    X509 *certificate = openssl.X509_new(), *authority = issuer ? read_first(issuer) : NULL;
    int is_made = certificate && (authority || !issuer) && fill(certificate, plan, own, authority ? authority : certificate)
        && openssl.X509_sign(certificate, signer, openssl.sha256) > 0 && write_pem(certificate, out);
    openssl.X509_free(certificate);
    openssl.X509_free(authority);
    if (!is_made) return tureen_openssl_failed("no certificate can be made", message, size);
    openssl.ERR_clear_error();
    return 1;
}

int tureen_certificate_rest(const char *pem, int64_t *seconds, char *message, size_t size) {
    if (!tureen_load_crypto(message, size)) return 0;
    X509 *certificate = read_first(pem);
    if (!certificate) return tureen_openssl_refused("there is no certificate that can be read", message, size);
    int days = 0, rest = 0;
    int is_known = openssl.ASN1_TIME_diff(&days, &rest, NULL, openssl.X509_get0_notAfter(certificate)) == 1;
    openssl.X509_free(certificate);
    if (!is_known) return tureen_openssl_failed("the certificate's end cannot be read", message, size);
    *seconds = (int64_t)days * 86400 + rest;
    return 1;
}
