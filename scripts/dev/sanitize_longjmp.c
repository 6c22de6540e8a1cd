// Preloaded by scripts/dev/sanitize: Debian's Lua raises errors with __longjmp_chk, which the thread sanitizer does not know. Its own
// stack of calls would grow with every error until it writes beyond it. longjmp it knows.
#include <setjmp.h>

__attribute__((noreturn)) void __longjmp_chk(struct __jmp_buf_tag *where, int value) { longjmp(where, value); }
