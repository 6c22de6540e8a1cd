/* measure FILE COMMAND...: runs a command and writes `cpu wall rss` to FILE: seconds of CPU, user and kernel, of the whole
 * process; seconds of wall time; megabytes at its largest. Exits as the command did. */
#include "bench.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

int main(int argc, char **argv) {
  if (argc < 3) bench_die("usage: measure FILE COMMAND...");
  double start = bench_wall();
  pid_t child = fork();
  if (child < 0) bench_die("cannot start %s", argv[2]);
  if (child == 0) {
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    _exit(127);
  }
  int status;
  struct rusage usage;
  while (wait4(child, &status, 0, &usage) < 0) continue;
  FILE *out = fopen(argv[1], "w");
  if (!out) bench_die("cannot write %s", argv[1]);
  fprintf(out, "%.4f %.4f %.1f\n", seconds(usage.ru_utime) + seconds(usage.ru_stime), bench_wall() - start,
          (double)usage.ru_maxrss / 1024);
  fclose(out);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
