/* Internal to this target. */
#ifndef TUREEN_REPORT_H
#define TUREEN_REPORT_H

#include <stddef.h>

/* Writes a line to stderr. Escapes control characters and marks that change the writing direction. */
void tureen_report_line(const char *text, size_t length);

#endif
