/* Internal to this target. */
#ifndef TUREEN_REPORT_H
#define TUREEN_REPORT_H

#include <stddef.h>

/* Writes a line to stderr. Control characters, and what turns the direction of writing, are escaped. */
void tureen_report_line(const char *text, size_t length);

#endif
