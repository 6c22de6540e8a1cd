/* serve [--port N] [--delay MS] DIRECTORY...
 *
 * A pretend org on loopback that answers queries with files: HTTP/1.1, kept connections, one thread each, sendfile. Prints
 * its port.
 *   POST /services/oauth2/token            any credentials are good
 *   GET  /services/data/vNN.0/query?q=...  the first page
 *   GET  /services/data/vNN.0/query/X-N    the page that starts at record N
 *   GET  /list?offset=N&size=P&count=C     the same as a page of a REST collection: Link to the next and the last page, ETag,
 *                                          304 for If-None-Match
 *   GET  /parse/classes/Contact?where=...  the page behind the row of that stamp, as a Parse server's keyset walk asks for it
 *   PATCH /records/ID                      the record has a new LastModifiedDate
 * A page that is there as N.json.gz is sent so, whatever the client accepts: clients ask for no compression on loopback.
 * --delay waits before each page, as a far-away org would. Commands while it runs, so that a client meets one org:
 *   GET  /bench/use/N     serves the N-th directory from now on, in place of the first
 *   GET  /bench/delay/MS  waits so long from now on
 *   GET  /bench/requests  `sign-ins pages others`: the requests since it was asked this the last time, commands not counted */
#include "bench.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <strings.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST_BYTES = 1 << 16 };

static char **directories;
static int directory_count, port;
static atomic_int current, delay_ms, sign_ins, pages, others;

typedef struct {
  char method[8], target[REQUEST_BYTES / 2];
  char tag[64]; /* of If-None-Match; empty without one */
} request_line;

static int send_all(int fd, const char *bytes, size_t count, int flags) {
  while (count > 0) {
    ssize_t n = send(fd, bytes, count, flags | MSG_NOSIGNAL);
    if (n <= 0) return -1;
    bytes += n;
    count -= (size_t)n;
  }
  return 0;
}

static int send_text(int fd, const char *status, const char *body) {
  char head[256];
  int n = snprintf(head, sizeof head,
                   "HTTP/1.1 %s\r\nContent-Type: application/json;charset=UTF-8\r\nContent-Length: %zu\r\n\r\n", status,
                   strlen(body));
  return send_all(fd, head, (size_t)n, MSG_MORE) || send_all(fd, body, strlen(body), 0) ? -1 : 0;
}

/* `more` are header lines, each with its end. */
static int send_page(int fd, unsigned long long offset, const char *more) {
  char path[4096], head[1024];
  const char *coding = "Content-Encoding: gzip\r\n";
  snprintf(path, sizeof path, "%s/%llu.json.gz", directories[atomic_load(&current)], offset);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    path[strlen(path) - strlen(".gz")] = 0;
    file = open(path, O_RDONLY | O_CLOEXEC);
    coding = "";
  }
  struct stat info;
  if (file < 0 || fstat(file, &info)) {
    if (file >= 0) close(file);
    return send_text(fd, "404 Not Found", "[{\"message\":\"no such page\",\"errorCode\":\"INVALID_QUERY_LOCATOR\"}]");
  }
  int wait_ms = atomic_load(&delay_ms);
  if (wait_ms) nanosleep(&(struct timespec){wait_ms / 1000, wait_ms % 1000 * 1000000L}, NULL);
  int n = snprintf(head, sizeof head,
                   "HTTP/1.1 200 OK\r\nContent-Type: application/json;charset=UTF-8\r\nContent-Length: %lld\r\n%s%s\r\n",
                   (long long)info.st_size, coding, more);
  int failed = send_all(fd, head, (size_t)n, MSG_MORE);
  for (off_t at = 0; !failed && at < info.st_size;) failed = sendfile(fd, file, &at, (size_t)(info.st_size - at)) <= 0;
  close(file);
  return failed ? -1 : 0;
}

static int send_token(int fd) {
  char body[1024];
  snprintf(body, sizeof body,
           "{\"access_token\":\"00DBn0000000001!benchmark\",\"instance_url\":\"http://127.0.0.1:%d\","
           "\"id\":\"http://127.0.0.1:%d/id/00DBn0000000001AAA/005Bn0000000001AAA\",\"token_type\":\"Bearer\","
           "\"issued_at\":\"1700000000000\",\"signature\":\"none\",\"refresh_token\":\"benchmark\"}",
           port, port);
  return send_text(fd, "200 OK", body);
}

/* What stands after /bench/. */
static int answer_command(int fd, const char *command) {
  char counts[96];
  int number = 0;
  if (sscanf(command, "use/%d", &number) == 1 && number >= 1 && number <= directory_count) {
    atomic_store(&current, number - 1);
    return send_text(fd, "200 OK", "{}");
  }
  if (sscanf(command, "delay/%d", &number) == 1 && number >= 0) {
    atomic_store(&delay_ms, number);
    return send_text(fd, "200 OK", "{}");
  }
  if (strcmp(command, "requests") != 0) return send_text(fd, "404 Not Found", "[]");
  snprintf(counts, sizeof counts, "%d %d %d\n", atomic_exchange(&sign_ins, 0), atomic_exchange(&pages, 0),
           atomic_exchange(&others, 0));
  return send_text(fd, "200 OK", counts);
}

static int answer_query(int fd, const char *query) {
  const char *dash = query[6] == '/' ? strrchr(query, '-') : NULL;
  atomic_fetch_add(&pages, 1);
  return send_page(fd, dash ? strtoull(dash + 1, NULL, 10) : 0, "");
}

static int answer_list(int fd, const request_line *request) {
  unsigned long long offset = 0, size = 0, count = 0;
  char more[768], tag[64];
  if (sscanf(request->target, "/list?offset=%llu&size=%llu&count=%llu", &offset, &size, &count) != 3 || size == 0)
    return send_text(fd, "400 Bad Request", "{\"message\":\"offset, size and count are needed\"}");
  atomic_fetch_add(&pages, 1);
  snprintf(tag, sizeof tag, "\"%d-%llu\"", atomic_load(&current), offset);
  if (strcmp(tag, request->tag) == 0) {
    int n = snprintf(more, sizeof more, "HTTP/1.1 304 Not Modified\r\nETag: %s\r\n\r\n", tag);
    return send_all(fd, more, (size_t)n, 0);
  }
  int n = snprintf(more, sizeof more, "ETag: %s\r\nLink: </list?offset=%llu&size=%llu&count=%llu>; rel=\"last\"", tag,
                   count ? (count - 1) / size * size : 0, size, count);
  if (offset + size < count)
    n += snprintf(more + n, sizeof more - (size_t)n, ", </list?offset=%llu&size=%llu&count=%llu>; rel=\"next\"",
                  offset + size, size, count);
  snprintf(more + n, sizeof more - (size_t)n, "\r\n");
  return send_page(fd, offset, more);
}

/* The stamp of row n is n seconds after the first one's. A walk says where it stands by the last stamp that it names. */
static int answer_class(int fd, const char *target) {
  unsigned long long offset = 0;
  char path[4096];
  for (const char *at = target; (at = strstr(at, "iso%22%3A%22")) != NULL;) {
    struct tm parts = {0};
    at += 12;
    if (strptime(at, "%Y-%m-%dT%H%%3A%M%%3A%S", &parts)) offset = (unsigned long long)(timegm(&parts) - 1420070400) + 1;
  }
  atomic_fetch_add(&pages, 1);
  snprintf(path, sizeof path, "%s/%llu.json", directories[atomic_load(&current)], offset);
  return access(path, R_OK) ? send_text(fd, "200 OK", "{\"results\":[]}") : send_page(fd, offset, "");
}

static int answer(int fd, const request_line *request) {
  const char *target = request->target, *query = strstr(target, "/query");
  if (strncmp(target, "/bench/", 7) == 0) return answer_command(fd, target + 7);
  if (strncmp(target, "/parse/classes/Contact?", 23) == 0) return answer_class(fd, target);
  if (strncmp(target, "/list?", 6) == 0) return answer_list(fd, request);
  if (strncmp(target, "/records/", 9) == 0 && strcmp(request->method, "PATCH") == 0) {
    atomic_fetch_add(&pages, 1);
    return send_text(fd, "200 OK", "{\"LastModifiedDate\":\"2026-01-02T03:04:05.000+0000\"}");
  }
  if (strncmp(target, "/services/oauth2/token", 22) == 0) {
    atomic_fetch_add(&sign_ins, 1);
    return send_token(fd);
  }
  if (query && (query[6] == '?' || query[6] == '/' || query[6] == 0)) return answer_query(fd, query);
  atomic_fetch_add(&others, 1);
  if (strcmp(target, "/services/data") == 0 || strcmp(target, "/services/data/") == 0)
    return send_text(fd, "200 OK", "[{\"label\":\"Benchmark\",\"url\":\"/services/data/v66.0\",\"version\":\"66.0\"}]");
  return send_text(fd, "404 Not Found",
                   "[{\"message\":\"The requested resource does not exist\",\"errorCode\":\"NOT_FOUND\"}]");
}

/* Reads one request into `in`, takes it out of there, drops its body. 0 when there is one, -1 at the end. */
static int next_request(int fd, bench_buffer *in, request_line *out) {
  size_t body = 0;
  for (;;) {
    in->bytes[in->length] = 0;
    char *end = strstr(in->bytes, "\r\n\r\n");
    if (end) {
      char *field = strcasestr(in->bytes, "\r\nContent-Length:");
      if (field && field < end) body = strtoull(field + 17, NULL, 10);
      size_t whole = (size_t)(end - in->bytes) + 4 + body;
      if (whole > REQUEST_BYTES) return -1;
      if (in->length >= whole) {
        if (sscanf(in->bytes, "%7s %32767s", out->method, out->target) != 2) return -1;
        char *tag = strcasestr(in->bytes, "\r\nIf-None-Match:");
        out->tag[0] = 0;
        if (tag && tag < end) sscanf(tag + 16, " %63s", out->tag);
        memmove(in->bytes, in->bytes + whole, in->length - whole);
        in->length -= whole;
        return 0;
      }
    }
    if (in->length >= REQUEST_BYTES) return -1;
    ssize_t n = recv(fd, in->bytes + in->length, REQUEST_BYTES - in->length, 0);
    if (n <= 0) return -1;
    in->length += (size_t)n;
  }
}

static void *serve_connection(void *argument) {
  int fd = (int)(intptr_t)argument;
  request_line *request = bench_realloc(NULL, sizeof *request);
  bench_buffer in = {0};
  bench_reserve(&in, REQUEST_BYTES);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  while (next_request(fd, &in, request) == 0 && answer(fd, request) == 0) continue;
  close(fd);
  free(in.bytes);
  free(request);
  return NULL;
}

static int listen_on_loopback(void) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  socklen_t length = sizeof address;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 64))
    bench_die("cannot listen on port %d", port);
  getsockname(fd, (struct sockaddr *)&address, &length);
  port = ntohs(address.sin_port);
  return fd;
}

int main(int argc, char **argv) {
  int i = 1;
  for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
    if (strcmp(argv[i], "--port") == 0) port = atoi(argv[i + 1]);
    else if (strcmp(argv[i], "--delay") == 0) delay_ms = atoi(argv[i + 1]);
    else bench_die("what is %s", argv[i]);
  }
  if (i >= argc) bench_die("usage: serve [--port N] [--delay MS] DIRECTORY...");
  directories = argv + i;
  directory_count = argc - i;
  signal(SIGPIPE, SIG_IGN);
  int listener = listen_on_loopback();
  printf("%d\n", port);
  fflush(stdout);
  for (;;) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    pthread_t thread;
    if (fd < 0) continue;
    if (pthread_create(&thread, NULL, serve_connection, (void *)(intptr_t)fd)) close(fd);
    else pthread_detach(thread);
  }
}
