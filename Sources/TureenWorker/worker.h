/* Declarations shared by the worker's files. A process is one worker with one state, so there is one channel. */
#ifndef TUREEN_WORKER_H
#define TUREEN_WORKER_H

#include "tureen_bridge.h"
#include "tureen_isolation.h"

/* --- The channel to the host. Each function ends the process if the host is gone. --- */

/* Opens the channel over the socket. Returns 1, or 0 with errno set. */
int channel_open(int socket, int words);

/* Sends a frame: the header, whose `length` it sets, and up to three pieces. Reads arriving frames while it waits. Returns 0 if
 * the body is too large. */
int channel_send(tureen_frame *_Nonnull frame, const tureen_bytes *_Nullable pieces, int count);

/* Waits for a frame of this kind, or for a reply. Sets its header and its body, which the caller frees. */
void channel_receive(uint32_t kind, tureen_frame *_Nonnull frame, tureen_bytes *_Nonnull body);

/* Reads the frames that have arrived, without waiting. Returns the number of waiting messages. */
int64_t channel_waiting(void);

/* Moves the next message to *out. Returns 1, or 0 if none waits. */
int channel_take(tureen_message *_Nonnull out);

/* Returns a descriptor that is readable while a message, a frame or a wake is waiting. */
int channel_descriptor(void);

/* Makes that descriptor readable until `channel_waiting` is called. */
void channel_wake(void);

/* Returns 1 once the host has asked for an end. */
int channel_is_interrupted(void);
/* Records that a signal asked for an end. Called by its handler. */
void channel_interrupt(void);

/* Ends the process with a report for the host. Callable in a signal handler. */
_Noreturn void channel_end(uint32_t why, uint32_t number);

/* --- The bridge's functions, over the channel. --- */

extern const tureen_host worker_host;

/* --- The walls. --- */

/* Removes the rights that a script does not need, and returns the active layers, TUREEN_LAYER_.... The descriptors up to `last`
 * stay open. Create signal handlers, buffers and descriptors before. */
int64_t wall_in(const tureen_worker_setup *_Nonnull setup, int last);

/* The layers without the filter of system calls, which is the last one. */
int64_t wall_in_but_filter(const tureen_worker_setup *_Nonnull setup, int last);

/* Closes this descriptor and all above it. */
void wall_close_descriptors(int first);

/* Installs the filter of system calls. Returns 1, or 0 if the kernel does not support it. A forbidden call raises SIGSYS. */
int wall_of_system_calls(void);

#endif
