/* Names of system calls, for messages about a worker's forbidden call. */
#include <sys/syscall.h>

#include "include/tureen_isolation.h"

#define NAMED(name) \
  case SYS_##name: return #name;

const char *tureen_system_call_name(uint32_t number) {
  switch (number) {
#ifdef SYS_open
    NAMED(open) NAMED(fork) NAMED(vfork) NAMED(unlink) NAMED(rename) NAMED(mkdir) NAMED(stat) NAMED(access) NAMED(creat)
    NAMED(dup2) NAMED(pipe) NAMED(readlink) NAMED(chmod) NAMED(arch_prctl) NAMED(getdents)
#endif
#ifdef SYS_clone3
    NAMED(clone3)
#endif
#ifdef SYS_io_uring_setup
    NAMED(io_uring_setup)
#endif
#ifdef SYS_memfd_create
    NAMED(memfd_create)
#endif
    NAMED(openat) NAMED(clone) NAMED(execve) NAMED(execveat) NAMED(socket) NAMED(socketpair) NAMED(connect) NAMED(bind)
    NAMED(listen) NAMED(accept) NAMED(accept4) NAMED(sendto) NAMED(sendmsg) NAMED(recvfrom) NAMED(recvmsg) NAMED(ptrace)
    NAMED(kill) NAMED(tkill) NAMED(tgkill) NAMED(mprotect) NAMED(mmap) NAMED(ioctl) NAMED(fcntl) NAMED(dup) NAMED(dup3)
    NAMED(pipe2) NAMED(close) NAMED(lseek) NAMED(fstat) NAMED(newfstatat) NAMED(unlinkat) NAMED(renameat) NAMED(mkdirat)
    NAMED(faccessat) NAMED(readlinkat) NAMED(getdents64) NAMED(chdir) NAMED(chroot) NAMED(mount) NAMED(umount2) NAMED(unshare)
    NAMED(setns) NAMED(setuid) NAMED(setgid) NAMED(prctl) NAMED(prlimit64) NAMED(seccomp) NAMED(bpf) NAMED(perf_event_open)
    NAMED(keyctl) NAMED(add_key) NAMED(process_vm_readv) NAMED(process_vm_writev) NAMED(rt_sigaction) NAMED(sigaltstack)
    NAMED(wait4) NAMED(nanosleep) NAMED(clock_nanosleep) NAMED(shmget) NAMED(userfaultfd) NAMED(epoll_create1) NAMED(epoll_ctl)
    NAMED(eventfd2) NAMED(timerfd_create) NAMED(reboot) NAMED(sched_setaffinity) NAMED(setrlimit) NAMED(uname) NAMED(sysinfo)
    default: return 0;
  }
}
