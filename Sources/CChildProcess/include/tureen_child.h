/* Starts a program that the kernel ends together with this process. */
#ifndef TUREEN_CHILD_H
#define TUREEN_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts a program in a process group of its own, with /dev/null as its input and this process's standard error as both
 * outputs. It gets SIGTERM when the calling THREAD ends, however that happens; so call from a thread that lives as long as the
 * program may. Its signals have their defaults, and it inherits no other descriptor.
 *
 * `arguments` and `environment` end with NULL. Returns 0 and the process, or an errno; also one that execve failed with. */
int tureen_child_start(const char *_Nonnull path, char *_Nullable const *_Nonnull arguments,
                       char *_Nullable const *_Nonnull environment, pid_t *_Nonnull process);

/* Starts a program in a process group of its own and in this folder, with these bytes as its input and this process's
 * standard error as both outputs. It may outlive this process. Its signals have their defaults, and it inherits no other
 * descriptor. `arguments` and `environment` end with NULL. Returns as tureen_child_start. */
int tureen_program_start(const char *_Nonnull path, char *_Nullable const *_Nonnull arguments,
                         char *_Nullable const *_Nonnull environment, const char *_Nonnull directory,
                         const void *_Nullable input, size_t count, pid_t *_Nonnull process);

#ifdef __cplusplus
}
#endif
#endif
