/* What the host and the worker process of an isolated script agree on, and how the host starts a worker.
 *
 * The worker has a Lua state and nothing else. Its bridge's calls go to the host as frames over a socket; the host checks each
 * of them and sends frames back. A frame is a header and a body. Both sides run on one machine: numbers have its byte order. */
#ifndef TUREEN_ISOLATION_H
#define TUREEN_ISOLATION_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tureen_frame {
  uint32_t length; /* bytes of the body */
  uint32_t kind;   /* TUREEN_FRAME_... */
  int64_t number;
  uint32_t part[4];
} tureen_frame;

/* The maximum size in bytes of a worker's body. A larger one ends the worker. */
#define TUREEN_FRAME_MOST (64u << 20)
/* The maximum size in bytes of the name of a service, an action or an event. */
#define TUREEN_NAME_MOST 1024

/* From the worker. Kinds marked with a * are answered by a TUREEN_FRAME_REPLY. */
enum {
  TUREEN_FRAME_READY = 1,  /* it is walled in. number: TUREEN_LAYER_... */
  TUREEN_FRAME_CALL = 2,   /* number: the call's id, larger than earlier ones. parts: 1 if records are wanted, bytes of the
                              service, of the action. body: service, action, arguments */
  TUREEN_FRAME_CANCEL = 3, /* number: the call's id */
  TUREEN_FRAME_PLUG = 4,   /* * registers a plug-in. parts: 1 if it hears cancellations, bytes of the service, 1 if it has a spec.
                              body: service, spec. The reply's number is the plug-in's, or 0 with an error as body */
  TUREEN_FRAME_UNPLUG = 5, /* * number: the plug-in's. The reply's number: as unregister_plugin has it */
  TUREEN_FRAME_ANSWER = 6, /* * a plug-in answers. number: the call's id. parts: the kind. body: JSON. The reply's number: as
                              answer has it */
  TUREEN_FRAME_EMIT = 7,   /* * parts: bytes of the event. body: event, JSON. The reply's number: as emit has it */
  TUREEN_FRAME_DONE = 8    /* the script has ended; the last frame. number: as tureen_state_run_file has it, or
                              TUREEN_DONE_NOT_BEGUN. parts: exit status + 1, limit, bytes of the failure, 1 if it was broken off.
                              body: failure, message */
};

/* To the worker. */
enum {
  TUREEN_FRAME_SETUP = 16,     /* the first frame. body: a tureen_worker_setup */
  TUREEN_FRAME_SCRIPT = 17,    /* runs a script. parts: bytes of the path, of the arguments, how many arguments. body: path,
                                  arguments, each with a zero byte behind it, then the script's text */
  TUREEN_FRAME_MESSAGE = 18,   /* number: the call's. parts: kind, action_length of a TUREEN_CALL, else 1 if it replaces an
                                  earlier progress; plugin (low and high half). body: payload */
  TUREEN_FRAME_REPLY = 19,     /* answers a frame marked with a *. number: the status. body: an error object, or nothing */
  TUREEN_FRAME_INTERRUPT = 20  /* the script is to end */
};

/* The state could not be opened; the message says why. */
#define TUREEN_DONE_NOT_BEGUN 5

typedef struct tureen_worker_setup {
  uint64_t memory_bytes, instructions, time_ms; /* as tureen_limits has them */
  uint64_t address_space;                       /* bytes of the whole process; 0: no limit */
  uint64_t cpu_seconds;                         /* 0: no limit */
} tureen_worker_setup;

/* The layers of the sandbox. */
enum {
  TUREEN_LAYER_RLIMITS = 1,    /* no files, no processes, no core dumps, bounded memory */
  TUREEN_LAYER_NAMESPACES = 2, /* a network, users and mounts of its own, which are empty */
  TUREEN_LAYER_LANDLOCK = 4,   /* no file can be opened, no port be connected to */
  TUREEN_LAYER_SECCOMP = 8     /* every system call that Lua does not need ends the process */
};

/* The worker's descriptors in addition to the standard ones. */
#define TUREEN_WORKER_SOCKET 3
#define TUREEN_WORKER_WORDS 4 /* a pipe for the one tureen_last_words */

/* The report that a worker writes before it ends itself abnormally. */
typedef struct tureen_last_words {
  uint32_t why;    /* TUREEN_WORDS_... */
  uint32_t number; /* of the system call */
} tureen_last_words;

enum {
  TUREEN_WORDS_SYSTEM_CALL = 0x53595343, /* it made a system call that is not allowed */
  TUREEN_WORDS_MEMORY = 0x4d454d4f       /* what the host sent did not fit into its memory */
};

/* A worker as the host sees it. The descriptors are the host's, non-blocking and closed on exec. */
typedef struct tureen_worker {
  pid_t process;
  int process_descriptor; /* readable once the process has ended; -1 where the kernel has none */
  int socket, output, errors, words;
} tureen_worker;

/* Starts a program as a worker: in a session of its own, with an empty environment and the default signals. Returns 0, or an
 * errno. The worker is killed when the thread that calls this ends. */
int tureen_worker_start(const char *_Nonnull program, tureen_worker *_Nonnull worker);

/* Waits up to that many milliseconds for the end of the worker. Returns 1 with the status of waitpid in *status; 0 if it still
 * runs; -1 if it has ended and another part of the program has collected the status. After 1 and -1 the id `process` may be
 * reused. */
int tureen_worker_wait(const tureen_worker *_Nonnull worker, int timeout_ms, int *_Nonnull status);

/* Closes the descriptors, after the process has ended. */
void tureen_worker_close(tureen_worker *_Nonnull worker);

/* Reads the report that the worker left in its pipe. Returns 1, or 0 if there is none. */
int tureen_worker_words(const tureen_worker *_Nonnull worker, tureen_last_words *_Nonnull words);

/* Returns the name of a system call of this machine, for messages; NULL for a rare one. */
const char *_Nullable tureen_system_call_name(uint32_t number);

/* Returns whether the arguments of a call may name a store: 0 if the text contains neither key and no escaped character. */
int tureen_may_name_store(const char *_Nullable json, size_t length);

/* Writes the real path of the program or library that this code is linked into to `path`, which has room for PATH_MAX bytes.
 * Returns 1, or 0 if it is not known. */
int tureen_own_library(char *_Nonnull path);

/* Interprets a wait status. Returns 1 with the signal's number in *number if a signal ended the process, else 0 with the exit
 * status. */
int tureen_wait_signal(int status, int *_Nonnull number);

#ifdef __cplusplus
}
#endif
#endif
