/* The layers of the worker's sandbox, from the outermost: resource limits, namespaces, Landlock, the filter of system calls.
 * The filter alone blocks all that the others block; they are there in case it has a hole. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

static int limit(int resource, uint64_t most) {
  struct rlimit value = {most, most};
  return setrlimit((__rlimit_resource_t)resource, &value) == 0;
}

static int limit_resources(const tureen_worker_setup *setup, int last) {
  /* `poll` checks the number of descriptors against the limit. */
  int holds = limit(RLIMIT_NOFILE, (uint64_t)last + 1) && limit(RLIMIT_NPROC, 0) && limit(RLIMIT_FSIZE, 0) &&
              limit(RLIMIT_CORE, 0) && limit(RLIMIT_MEMLOCK, 0) && limit(RLIMIT_MSGQUEUE, 0);
#ifndef IS_SANITIZED /* a sanitizer maps terabytes */
  if (setup->address_space > 0) holds = limit(RLIMIT_AS, setup->address_space) && holds;
#endif
  if (setup->cpu_seconds > 0) holds = limit(RLIMIT_CPU, setup->cpu_seconds) && holds;
  return holds;
}

/* The definitions of Landlock version 7, because the headers may be older than the kernel. Older kernels know fewer rights. */
struct landlock_rules {
  uint64_t files, network, scopes;
};

static int wall_of_files(void) {
#ifdef SYS_landlock_create_ruleset
  static const int file_rights[] = {0, 13, 14, 15, 15, 16, 16}; /* by version: how many there are */
  long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* asks for the version */);
  if (version < 1) return 0;
  struct landlock_rules rules = {0, 0, 0};
  size_t size = version >= 6 ? sizeof rules : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
  rules.files = (UINT64_C(1) << file_rights[version > 6 ? 6 : version]) - 1;
  if (version >= 4) rules.network = 3; /* bind and connect */
  if (version >= 6) rules.scopes = 3;  /* abstract sockets and signals */
  int rule_set = (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
  if (rule_set < 0) return 0;
  int holds = syscall(SYS_landlock_restrict_self, rule_set, 0) == 0;
  close(rule_set);
  return holds;
#else
  return 0;
#endif
}

void wall_close_descriptors(int first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
  struct rlimit most;
  int end = getrlimit(RLIMIT_NOFILE, &most) == 0 && most.rlim_cur < 1 << 20 ? (int)most.rlim_cur : 1 << 20;
  for (int i = first; i < end; i++) close(i);
}

int64_t wall_in_but_filter(const tureen_worker_setup *setup, int last) {
  int64_t layers = 0;
  wall_close_descriptors(last + 1);
  /* Create a user namespace first: it grants the right to create the others, and no rights outside of it. */
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWNS | CLONE_NEWUTS) == 0) layers |= TUREEN_LAYER_NAMESPACES;
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  /* Set it after the namespaces, which reset it. If the host has ended before, its end of the socket is closed. */
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return layers;
  if (wall_of_files()) layers |= TUREEN_LAYER_LANDLOCK;
  if (limit_resources(setup, last)) layers |= TUREEN_LAYER_RLIMITS;
  return layers;
}

int64_t wall_in(const tureen_worker_setup *setup, int last) {
  int64_t layers = wall_in_but_filter(setup, last);
  return wall_of_system_calls() ? layers | TUREEN_LAYER_SECCOMP : layers;
}
