#define _GNU_SOURCE
#include "library.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* Milliseconds to wait where libcurl cannot, for want of memory, so that the loop does not spin. */
enum { REST_MS = 20 };
/* Bytes of libcurl's buffers: as large as it takes, because each write callback has a part of this size. */
enum { RECEIVE_BUFFER = 256 * 1024, SEND_BUFFER = 64 * 1024 };

struct ccurl_loop {
    CURLM *multi; /* NULL once closed */
    int wake;     /* an eventfd; that of libcurl 7.88 would be inherited by child processes */
    int kept_connections;
};

struct ccurl_transfer {
    CURL *easy;
    curl_slist *headers;
    int (*started)(void *);
    size_t (*received)(void *, int, const void *, size_t);
    void *context;
    int has_opened; /* a socket, so that the connection was not kept */
    char message[CURL_ERROR_SIZE];
};

/* --- The loop --- */

static void open_multi(ccurl_loop *loop) {
    if (!(loop->multi = curl.curl_multi_init())) return;
    curl.curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, (long)loop->kept_connections);
    curl.curl_multi_setopt(loop->multi, CURLMOPT_PIPELINING, 0L);
    /* Newer versions resolve names in threads of the multi handle, for which its end would wait. Older ones do not know this. */
    curl.curl_multi_setopt(loop->multi, CURLMOPT_QUICK_EXIT, 1L);
}

ccurl_loop *ccurl_loop_make(int kept_connections) {
    ccurl_loop *loop = calloc(1, sizeof *loop);
    if (!loop) return NULL;
    loop->kept_connections = kept_connections;
    loop->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    open_multi(loop);
    if (loop->multi && loop->wake >= 0) return loop;
    ccurl_loop_free(loop);
    return NULL;
}

void ccurl_loop_close(ccurl_loop *loop) {
    if (loop->multi) curl.curl_multi_cleanup(loop->multi);
    loop->multi = NULL;
}

void ccurl_loop_renew(ccurl_loop *loop) {
    ccurl_loop_close(loop);
    open_multi(loop);
}

void ccurl_loop_free(ccurl_loop *loop) {
    if (!loop) return;
    ccurl_loop_close(loop);
    if (loop->wake >= 0) close(loop->wake);
    free(loop);
}

void ccurl_loop_wake(ccurl_loop *loop) { (void)!eventfd_write(loop->wake, 1); }

void ccurl_loop_perform(ccurl_loop *loop) {
    int running = 0;
    if (loop->multi) curl.curl_multi_perform(loop->multi, &running);
}

void ccurl_loop_wait(ccurl_loop *loop, int ms) {
    struct curl_waitfd wake = {.fd = loop->wake, .events = CURL_WAIT_POLLIN};
    if (!loop->multi || curl.curl_multi_poll(loop->multi, &wake, 1, ms, NULL)) {
        struct pollfd own = {.fd = loop->wake, .events = POLLIN};
        poll(&own, 1, ms < REST_MS ? ms : REST_MS);
        wake.revents = own.revents;
    }
    if (wake.revents) (void)!eventfd_read(loop->wake, &(eventfd_t){0});
}

static void describe(CURL *easy, int code, const ccurl_transfer *transfer, ccurl_result *result) {
    long verify = 0, os_error = 0, proxy_status = 0;
    curl.curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &verify);
    curl.curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &os_error);
    curl.curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
    result->verify_result = ccurl_verify_result(verify);
    result->os_error = (int)os_error;
    result->proxy_status = (int)proxy_status;
    snprintf(
        result->message, sizeof result->message, "%s",
        transfer->message[0] ? transfer->message : curl.curl_easy_strerror(code));
}

void *ccurl_loop_ended(ccurl_loop *loop, ccurl_result *result) {
    int rest = 0;
    for (CURLMsg *message; loop->multi && (message = curl.curl_multi_info_read(loop->multi, &rest));) {
        if (message->msg != CURLMSG_DONE) continue;
        /* Removing the handle frees the message. */
        CURL *easy = message->easy_handle;
        int code = message->data.result;
        ccurl_transfer *transfer = NULL;
        long status = 0;
        curl.curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
        curl.curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        *result = (ccurl_result){.code = code, .status = (int)status};
        if (code) describe(easy, code, transfer, result);
        curl.curl_multi_remove_handle(loop->multi, easy);
        return transfer->context;
    }
    return NULL;
}

/* --- A transfer --- */

ccurl_transfer *ccurl_transfer_make(void) {
    ccurl_transfer *transfer = calloc(1, sizeof *transfer);
    if (transfer && !(transfer->easy = curl.curl_easy_init())) {
        free(transfer);
        return NULL;
    }
    return transfer;
}

void ccurl_transfer_reset(ccurl_transfer *transfer) {
    curl.curl_easy_reset(transfer->easy);
    /* Otherwise its clean-up changes the program's SIGPIPE for a moment. */
    curl.curl_easy_setopt(transfer->easy, CURLOPT_NOSIGNAL, 1L);
    curl.curl_slist_free_all(transfer->headers);
    transfer->headers = NULL;
}

void ccurl_transfer_free(ccurl_transfer *transfer) {
    if (!transfer) return;
    curl.curl_easy_cleanup(transfer->easy);
    curl.curl_slist_free_all(transfer->headers);
    free(transfer);
}

static int on_start(void *context, char *peer, char *own, int peer_port, int own_port) {
    (void)peer, (void)own, (void)peer_port, (void)own_port;
    ccurl_transfer *transfer = context;
    return transfer->started(transfer->context) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

static size_t on_head(char *bytes, size_t one, size_t count, void *context) {
    (void)one;
    ccurl_transfer *transfer = context;
    return transfer->received(transfer->context, 1, bytes, count);
}

static size_t on_body(char *bytes, size_t one, size_t count, void *context) {
    (void)one;
    ccurl_transfer *transfer = context;
    return transfer->received(transfer->context, 0, bytes, count);
}

/* libcurl 7.88 would let child processes inherit its sockets. */
static int open_socket(void *context, int purpose, struct curl_sockaddr *address) {
    (void)purpose;
    ((ccurl_transfer *)context)->has_opened = 1;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Appends a line; libcurl wants a field without a value with a semicolon in place of the colon. */
static curl_slist *append_line(curl_slist *list, const char *line) {
    const char *colon = strchr(line, ':');
    if (!colon || colon[1 + strspn(colon + 1, " \t")] != 0) return curl.curl_slist_append(list, line);
    char *empty = strndup(line, (size_t)(colon - line) + 1);
    if (!empty) return NULL;
    empty[colon - line] = ';';
    curl_slist *longer = curl.curl_slist_append(list, empty);
    free(empty);
    return longer;
}

static int add_headers(ccurl_transfer *transfer, const ccurl_request *request) {
    /* libcurl asks for 100-continue from 1 MB on, and waits a second for it; and it would add these two. */
    curl_slist *list = curl.curl_slist_append(NULL, "Expect:"), *more = list;
    if (more && !request->has_content_type) more = curl.curl_slist_append(list, "Content-Type:");
    if (more && !request->has_accept) more = curl.curl_slist_append(list, "Accept:");
    const char *line = request->headers;
    for (int i = 0; more && i < request->lines; i++, line += strlen(line) + 1) more = append_line(list, line);
    transfer->headers = list;
    return more != NULL;
}

#define SET(option, value) do { if (!code) code = curl.curl_easy_setopt(easy, option, value); } while (0)

static int set_limits(CURL *easy, const ccurl_request *request) {
    int code = CURLE_OK;
    SET(CURLOPT_NOSIGNAL, 1L);
    /* Otherwise a cancelled request waits for its getaddrinfo. */
    SET(CURLOPT_QUICK_EXIT, 1L);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_NETRC, 0L);
    SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_NONE);
    SET(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_HTTP09_ALLOWED, 0L);
    /* libcurl takes a gzip stream that ends too soon for a whole one. */
    SET(CURLOPT_HTTP_CONTENT_DECODING, 0L);
    SET(CURLOPT_PATH_AS_IS, 1L);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)request->connect_ms);
    SET(CURLOPT_MAXAGE_CONN, (long)request->reuse_s);
    SET(CURLOPT_FRESH_CONNECT, (long)request->is_fresh);
    SET(CURLOPT_BUFFERSIZE, (long)RECEIVE_BUFFER);
    SET(CURLOPT_UPLOAD_BUFFERSIZE, (long)SEND_BUFFER);
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    return code;
}

static int set_proxy(CURL *easy, const ccurl_request *request) {
    int code = CURLE_OK;
    /* "" for none; otherwise libcurl would take that of the environment. The same for the exceptions. */
    SET(CURLOPT_PROXY, request->proxy ? request->proxy : "");
    SET(CURLOPT_NOPROXY, "");
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
    if (!request->proxy) return code;
    SET(CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (!request->proxy_user) return code;
    SET(CURLOPT_PROXYAUTH, (long)CURLAUTH_BASIC);
    SET(CURLOPT_PROXYUSERNAME, request->proxy_user);
    SET(CURLOPT_PROXYPASSWORD, request->proxy_password ? request->proxy_password : "");
    return code;
}

static int set_method(CURL *easy, const ccurl_request *request) {
    int code = CURLE_OK;
    const char *method = request->method;
    if (!strcmp(method, "HEAD")) {
        SET(CURLOPT_NOBODY, 1L);
    } else if (request->body) {
        SET(CURLOPT_POSTFIELDSIZE_LARGE, request->body_count);
        SET(CURLOPT_POSTFIELDS, request->body);
        if (strcmp(method, "POST")) SET(CURLOPT_CUSTOMREQUEST, method);
    } else {
        SET(CURLOPT_HTTPGET, 1L);
        if (strcmp(method, "GET")) SET(CURLOPT_CUSTOMREQUEST, method);
    }
    return code;
}

static int set_callbacks(CURL *easy, ccurl_transfer *transfer) {
    int code = CURLE_OK;
    SET(CURLOPT_PRIVATE, transfer);
    SET(CURLOPT_ERRORBUFFER, transfer->message);
    SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
    SET(CURLOPT_OPENSOCKETDATA, transfer);
    SET(CURLOPT_PREREQFUNCTION, on_start);
    SET(CURLOPT_PREREQDATA, transfer);
    SET(CURLOPT_HEADERFUNCTION, on_head);
    SET(CURLOPT_HEADERDATA, transfer);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, transfer);
    return code;
}

int ccurl_transfer_start(ccurl_transfer *transfer, ccurl_loop *loop, const ccurl_request *request) {
    CURL *easy = transfer->easy;
    transfer->context = request->context;
    transfer->started = request->started;
    transfer->received = request->received;
    transfer->message[0] = 0;
    transfer->has_opened = 0;
    if (!loop->multi) open_multi(loop);
    if (!loop->multi || !add_headers(transfer, request)) return CURLE_OUT_OF_MEMORY;
    int code = set_limits(easy, request);
    if (!code) code = set_callbacks(easy, transfer);
    if (!code) code = set_proxy(easy, request);
    if (!code) code = set_method(easy, request);
    if (!code) code = ccurl_trust_apply(easy, request->trust);
    SET(CURLOPT_URL, request->origin);
    SET(CURLOPT_REQUEST_TARGET, request->target);
    SET(CURLOPT_HTTPHEADER, transfer->headers);
    if (code) return code;
    return curl.curl_multi_add_handle(loop->multi, easy) ? CURLE_FAILED_INIT : CURLE_OK;
}

void ccurl_transfer_stop(ccurl_transfer *transfer, ccurl_loop *loop) {
    if (loop->multi) curl.curl_multi_remove_handle(loop->multi, transfer->easy);
}

void ccurl_transfer_written(const ccurl_transfer *transfer, int64_t *head, int64_t *body) {
    long requests = 0;
    int64_t uploaded = 0;
    curl.curl_easy_getinfo(transfer->easy, CURLINFO_REQUEST_SIZE, &requests);
    curl.curl_easy_getinfo(transfer->easy, CURLINFO_SIZE_UPLOAD_T, &uploaded);
    *head = requests;
    *body = uploaded;
}

int ccurl_transfer_is_stale(const ccurl_transfer *transfer) {
    int socket = -1;
    if (transfer->has_opened || curl.curl_easy_getinfo(transfer->easy, CURLINFO_ACTIVESOCKET, &socket) || socket < 0) return 0;
    struct pollfd own = {.fd = socket, .events = POLLIN | POLLRDHUP};
    return poll(&own, 1, 0) > 0;
}

const char *ccurl_transfer_peer(const ccurl_transfer *transfer) {
    const char *peer = NULL;
    curl.curl_easy_getinfo(transfer->easy, CURLINFO_PRIMARY_IP, &peer);
    return peer ? peer : "";
}
