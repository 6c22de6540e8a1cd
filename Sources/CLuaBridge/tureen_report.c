/* Writes lines to stderr. */
#include "tureen_report.h"

#include <stdio.h>
#include <string.h>

#include "tureen_json.h"

/* Returns the length of the character at `p` if it controls a terminal, else 0. The text must be valid UTF-8. */
static size_t command_length(const unsigned char *p) {
  if (p[0] < 0x80) return (p[0] < 0x20 && p[0] != '\n' && p[0] != '\t') || p[0] == 0x7f;
  if (p[0] == 0xc2) return p[1] < 0xa0 ? 2 : 0;  /* U+0080 to U+009F */
  if (p[0] == 0xd8) return p[1] == 0x9c ? 2 : 0; /* U+061C */
  if (p[0] != 0xe2) return 0;
  int turns = p[1] == 0x80 ? p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae)
                           : p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9;
  return turns ? 3 : 0;
}

static void print_escaped(const unsigned char *p, size_t length) {
  for (size_t i = 0; i < length; i++) fprintf(stderr, "\\x%02x", p[i]);
}

void tureen_report_line(const char *text, size_t length) {
  const unsigned char *p = (const unsigned char *)text, *end = p + length;
  flockfile(stderr);
  while (p < end) {
    const unsigned char *valid = p + tureen_utf8_prefix((const char *)p, (size_t)(end - p));
    while (p < valid) {
      size_t command = command_length(p);
      if (command == 0) putc(*p++, stderr);
      print_escaped(p, command);
      p += command;
    }
    if (p < end) print_escaped(p++, 1); /* not UTF-8 */
  }
  putc('\n', stderr);
  fflush(stderr);
  funlockfile(stderr);
}
