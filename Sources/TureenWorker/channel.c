/* Sends and receives frames over the socket. Reading uses a buffer, so that many small frames cost one system call. Writing
 * blocks, but reads arriving frames meanwhile, so that the two sides cannot deadlock. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "worker.h"

/* Bytes read at once. */
#define BUFFER (64 << 10)
/* Pieces of a frame after its header. */
#define PIECES 3

static struct {
  int socket, words;
  int signal; /* an eventfd: messages wait, or a wake was not answered */
  int either; /* readable when the socket or `signal` is */
  int is_signalled, is_awake;
  volatile int is_interrupted;
  char buffer[BUFFER];
  size_t start, end; /* of what was read and not looked at */
  /* A ring of messages that were not taken yet. */
  struct waiting {
    tureen_message message;
    int is_progress; /* of those of one call only the latest waits */
  } *messages;
  size_t first, count, capacity;
  /* The last frame that is not a message. */
  int has_other;
  tureen_frame other;
  tureen_bytes other_body;
} channel;

_Noreturn void channel_end(uint32_t why, uint32_t number) {
  tureen_last_words words = {why, number};
  ssize_t written = write(channel.words, &words, sizeof words);
  (void)written;
  _exit(1);
}

/* The host is gone or sends invalid frames, so the error cannot be reported. */
static _Noreturn void leave(void) { _exit(1); }

int channel_open(int socket, int words) {
  channel.socket = socket;
  channel.words = words;
  channel.signal = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  channel.either = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN};
  return fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK) == 0 && channel.signal >= 0 && channel.either >= 0 &&
         epoll_ctl(channel.either, EPOLL_CTL_ADD, socket, &event) == 0 &&
         epoll_ctl(channel.either, EPOLL_CTL_ADD, channel.signal, &event) == 0;
}

static void update_signal(void) {
  int should = channel.count > 0 || channel.is_awake;
  if (should == channel.is_signalled) return;
  channel.is_signalled = should;
  eventfd_t count = 1;
  ssize_t done = should ? write(channel.signal, &count, sizeof count) : read(channel.signal, &count, sizeof count);
  (void)done;
}

static void wait_for(short events) {
  struct pollfd socket = {.fd = channel.socket, .events = events};
  if (poll(&socket, 1, -1) < 0 && errno != EINTR) leave();
}

/* Reads up to `size` bytes and returns their number; 0 if none have arrived. */
static size_t read_some(void *into, size_t size) {
  for (;;) {
    ssize_t count = read(channel.socket, into, size);
    if (count > 0) return (size_t)count;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return 0;
    leave();
  }
}

/* Reads exactly `size` bytes, first from the buffer and then from the socket. */
static void read_all(void *into, size_t size) {
  char *p = into;
  size_t buffered = channel.end - channel.start, from_buffer = buffered < size ? buffered : size;
  memcpy(p, channel.buffer + channel.start, from_buffer);
  channel.start += from_buffer;
  for (p += from_buffer, size -= from_buffer; size > 0;) {
    size_t count = read_some(p, size);
    if (count == 0) wait_for(POLLIN);
    p += count;
    size -= count;
  }
}

/* Replaces a waiting progress of the same call. Returns 1, or 0 if none waits. */
static int replace(const tureen_message *message) {
  for (size_t i = channel.count; i-- > 0;) {
    struct waiting *waiting = &channel.messages[(channel.first + i) % channel.capacity];
    if (!waiting->is_progress || waiting->message.call != message->call) continue;
    free(waiting->message.payload.data);
    waiting->message = *message;
    return 1;
  }
  return 0;
}

static void push(const tureen_message *message, int is_progress) {
  if (is_progress && replace(message)) return;
  if (channel.count == channel.capacity) {
    size_t capacity = channel.capacity == 0 ? 64 : channel.capacity * 2;
    struct waiting *larger = malloc(capacity * sizeof *larger);
    if (larger == NULL) channel_end(TUREEN_WORDS_MEMORY, 0);
    for (size_t i = 0; i < channel.count; i++) larger[i] = channel.messages[(channel.first + i) % channel.capacity];
    free(channel.messages);
    channel.messages = larger;
    channel.capacity = capacity;
    channel.first = 0;
  }
  channel.messages[(channel.first + channel.count) % channel.capacity] = (struct waiting){*message, is_progress};
  channel.count++;
}

/* Reads and drops a body that does not fit into memory. */
static void skip(size_t size) {
  char scrap[4096];
  while (size > 0) {
    size_t part = size < sizeof scrap ? size : sizeof scrap;
    read_all(scrap, part);
    size -= part;
  }
}

static void take_message(const tureen_frame *frame) {
  static const char too_large[] =
      "{\"domain\":\"bridge\",\"code\":\"memoryLimit\",\"retryable\":false,"
      "\"message\":\"the answer does not fit into the memory of the script's process (--memory-limit)\"}";
  tureen_message message = {.call = frame->number, .kind = (int32_t)frame->part[0]};
  message.plugin = (int64_t)((uint64_t)frame->part[3] << 32 | frame->part[2]);
  if (message.kind == TUREEN_CALL) message.action_length = frame->part[1];
  message.payload.data = malloc(frame->length + 1);
  message.payload.length = frame->length;
  if (message.payload.data != NULL) {
    read_all(message.payload.data, frame->length);
  } else {
    skip(frame->length);
    message.payload.data = message.kind == TUREEN_RESULT ? malloc(sizeof too_large) : NULL;
    if (message.payload.data == NULL) channel_end(TUREEN_WORDS_MEMORY, 0);
    message.kind = TUREEN_ERROR;
    message.payload.length = sizeof too_large - 1;
    memcpy(message.payload.data, too_large, sizeof too_large);
  }
  push(&message, message.kind != TUREEN_CALL && frame->part[1] == 1);
}

static void take_other(const tureen_frame *frame) {
  if (channel.has_other) leave();
  channel.has_other = 1;
  channel.other = *frame;
  channel.other_body.data = malloc(frame->length + 1);
  channel.other_body.length = frame->length;
  if (channel.other_body.data == NULL) channel_end(TUREEN_WORDS_MEMORY, 0);
  read_all(channel.other_body.data, frame->length);
}

/* Reads the frames that have arrived. Waits for the rest of a partial frame, which the host sends at once. */
static void pump(void) {
  for (;;) {
    if (channel.start == channel.end) {
      channel.start = channel.end = 0;
      channel.end = read_some(channel.buffer, sizeof channel.buffer);
      if (channel.end == 0) break;
    }
    tureen_frame frame;
    read_all(&frame, sizeof frame);
    if (frame.kind == TUREEN_FRAME_MESSAGE) take_message(&frame);
    else if (frame.kind == TUREEN_FRAME_INTERRUPT) channel.is_interrupted = channel.is_awake = 1;
    else take_other(&frame);
  }
  update_signal();
}

int channel_send(tureen_frame *frame, const tureen_bytes *pieces, int count) {
  struct iovec parts[1 + PIECES];
  size_t left = sizeof *frame, length = 0;
  parts[0] = (struct iovec){frame, sizeof *frame};
  for (int i = 0; i < count; i++) {
    parts[i + 1] = (struct iovec){pieces[i].data, pieces[i].length};
    if (pieces[i].length > TUREEN_FRAME_MOST) return 0;
    length += pieces[i].length;
  }
  if (length > TUREEN_FRAME_MOST) return 0;
  frame->length = (uint32_t)length;
  left += length;
  struct iovec *part = parts;
  int parts_left = count + 1;
  while (left > 0) {
    ssize_t sent = writev(channel.socket, part, parts_left);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) leave();
    if (sent < 0) {
      wait_for(POLLIN | POLLOUT);
      pump();
      continue;
    }
    left -= (size_t)sent;
    for (size_t gone = (size_t)sent; gone > 0;) {
      size_t step = gone < part->iov_len ? gone : part->iov_len;
      part->iov_base = (char *)part->iov_base + step;
      part->iov_len -= step;
      gone -= step;
      if (part->iov_len == 0 && gone > 0) part++, parts_left--;
    }
  }
  return 1;
}

void channel_receive(uint32_t kind, tureen_frame *frame, tureen_bytes *body) {
  for (;;) {
    pump();
    if (channel.has_other) break;
    wait_for(POLLIN);
  }
  channel.has_other = 0;
  if (channel.other.kind != kind) leave();
  *frame = channel.other;
  *body = channel.other_body;
}

int64_t channel_waiting(void) {
  pump();
  channel.is_awake = 0;
  update_signal();
  return (int64_t)channel.count;
}

int channel_take(tureen_message *out) {
  if (channel.count == 0) pump();
  if (channel.count == 0) return 0;
  *out = channel.messages[channel.first].message;
  channel.first = (channel.first + 1) % channel.capacity;
  channel.count--;
  update_signal();
  return 1;
}

int channel_descriptor(void) { return channel.either; }

void channel_wake(void) {
  channel.is_awake = 1;
  update_signal();
}

int channel_is_interrupted(void) { return channel.is_interrupted; }

void channel_interrupt(void) { channel.is_interrupted = 1; }
