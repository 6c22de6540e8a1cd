/* The bridge's table of functions in the worker. Each function sends a frame, which the host performs. */
#include <stdlib.h>
#include <string.h>

#include "worker.h"

/* The worker assigns its own ids to calls. */
static int64_t last_call = 0;

static tureen_bytes bytes_of(const char *data, size_t length) { return (tureen_bytes){(char *)data, length}; }

/* Copies an error object for the bridge, which frees it. Without memory the bridge reports an error without a reason. */
static void refuse(tureen_bytes *error, const char *json) {
  error->data = malloc(strlen(json) + 1);
  error->length = error->data == NULL ? 0 : strlen(json);
  if (error->data != NULL) memcpy(error->data, json, error->length + 1);
}

static void refuse_size(tureen_bytes *error) {
  refuse(error, "{\"domain\":\"bridge\",\"code\":\"invalidArguments\",\"retryable\":false,"
                "\"message\":\"an isolated script can send 64 MiB at once at most\"}");
}

/* Sends a frame and returns the number in the host's reply. Sets *error if the reply has an error object. */
static int64_t ask(tureen_frame *frame, const tureen_bytes *pieces, int count, int64_t too_large, tureen_bytes *error) {
  if (!channel_send(frame, pieces, count)) {
    if (error != NULL) refuse_size(error);
    return too_large;
  }
  tureen_frame reply;
  tureen_bytes body;
  channel_receive(TUREEN_FRAME_REPLY, &reply, &body);
  if (error != NULL && body.length > 0) *error = body;
  else free(body.data);
  return reply.number;
}

static int64_t host_call(void *context, const tureen_request *request, tureen_bytes *error) {
  (void)context;
  if (request->service_length > TUREEN_NAME_MOST || request->action_length > TUREEN_NAME_MOST) {
    refuse(error, "{\"domain\":\"bridge\",\"code\":\"unknownService\",\"retryable\":false,"
                  "\"message\":\"the name of the service or of the action is too long\"}");
    return 0;
  }
  tureen_frame frame = {.kind = TUREEN_FRAME_CALL, .number = last_call + 1};
  frame.part[0] = request->wants_records ? 1 : 0;
  frame.part[1] = (uint32_t)request->service_length;
  frame.part[2] = (uint32_t)request->action_length;
  const tureen_bytes pieces[] = {bytes_of(request->service, request->service_length),
                                 bytes_of(request->action, request->action_length),
                                 bytes_of(request->arguments, request->arguments_length)};
  if (!channel_send(&frame, pieces, 3)) {
    refuse_size(error);
    return 0;
  }
  return ++last_call;
}

static void host_cancel(void *context, int64_t call) {
  (void)context;
  if (call < 1 || call > last_call) return;
  tureen_frame frame = {.kind = TUREEN_FRAME_CANCEL, .number = call};
  channel_send(&frame, NULL, 0);
}

static int64_t host_waiting(void *context) {
  (void)context;
  return channel_waiting();
}

static int host_take(void *context, tureen_message *out) {
  (void)context;
  return channel_take(out);
}

static int host_wait_fd(void *context) {
  (void)context;
  return channel_descriptor();
}

static void host_wake(void *context) {
  (void)context;
  channel_wake();
}

static int host_interrupted(void *context) {
  (void)context;
  return channel_is_interrupted();
}

static int host_configure(void *context, const char *json, size_t length, tureen_bytes *error) {
  (void)context, (void)json, (void)length;
  refuse(error, "{\"domain\":\"bridge\",\"code\":\"restricted\",\"retryable\":false,"
                "\"message\":\"tureen.configure is not available to an isolated script\"}");
  return 0;
}

static int64_t host_register(void *context, const char *service, const char *spec, int hears_cancel, tureen_bytes *error) {
  (void)context;
  tureen_frame frame = {.kind = TUREEN_FRAME_PLUG};
  size_t length = strlen(service);
  if (length > TUREEN_NAME_MOST) length = TUREEN_NAME_MOST; /* too long for a service, as the host will say */
  frame.part[0] = hears_cancel ? 1 : 0;
  frame.part[1] = (uint32_t)length;
  frame.part[2] = spec != NULL;
  const tureen_bytes pieces[] = {bytes_of(service, length), bytes_of(spec, spec == NULL ? 0 : strlen(spec))};
  return ask(&frame, pieces, 2, 0, error);
}

static int host_unregister(void *context, int64_t plugin) {
  (void)context;
  tureen_frame frame = {.kind = TUREEN_FRAME_UNPLUG, .number = plugin};
  return (int)ask(&frame, NULL, 0, 0, NULL);
}

static int32_t host_answer(void *context, int64_t call, int32_t kind, const char *json, size_t length, int is_encoded) {
  (void)context, (void)is_encoded; /* the host believes nothing that it has not checked */
  tureen_frame frame = {.kind = TUREEN_FRAME_ANSWER, .number = call};
  frame.part[0] = (uint32_t)kind;
  const tureen_bytes piece = bytes_of(json, length);
  return (int32_t)ask(&frame, &piece, 1, -1, NULL);
}

static int32_t host_emit(void *context, const char *event, const char *json, size_t length) {
  (void)context;
  tureen_frame frame = {.kind = TUREEN_FRAME_EMIT};
  size_t name = strlen(event);
  if (name > TUREEN_NAME_MOST) return -1;
  frame.part[0] = (uint32_t)name;
  const tureen_bytes pieces[] = {bytes_of(event, name), bytes_of(json, length)};
  return (int32_t)ask(&frame, pieces, 2, -1, NULL);
}

static void host_release(void *context) { (void)context; }

const tureen_host worker_host = {
    .call = host_call,
    .cancel = host_cancel,
    .waiting = host_waiting,
    .take = host_take,
    .wait_fd = host_wait_fd,
    .wake = host_wake,
    .interrupted = host_interrupted,
    .configure = host_configure,
    .register_plugin = host_register,
    .unregister_plugin = host_unregister,
    .answer = host_answer,
    .emit = host_emit,
    .release = host_release,
};
