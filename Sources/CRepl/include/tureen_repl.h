/* The C part of `tureen repl`: a line editor based on libedit, and the Lua sources of the prompt. */
#ifndef TUREEN_REPL_H
#define TUREEN_REPL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The Lua sources: `values` formats values and returns a module; `text` implements the prompt and returns a function. */
extern const char *_Nonnull const tureen_repl_values;
extern const size_t tureen_repl_values_length;
extern const char *_Nonnull const tureen_repl_text;
extern const size_t tureen_repl_text_length;

/* The editor's callbacks, which are called on the reading thread. */
typedef struct tureen_editor_hooks {
  void *_Nullable context;
  /* A descriptor to watch while a line is being typed. When it becomes readable, the editor hides the line and calls `events`,
   * whose output therefore appears above the line. */
  int events_fd;
  void (*_Nonnull events)(void *_Nullable context);
  /* Returns the completions at the cursor as text from malloc: the number of bytes that they replace, then one per line. */
  char *_Nullable (*_Nonnull complete)(void *_Nullable context, const char *_Nonnull line, size_t length);
} tureen_editor_hooks;

typedef struct tureen_editor tureen_editor;

enum { TUREEN_EDITOR_LINE = 1, TUREEN_EDITOR_END = 0, TUREEN_EDITOR_INTERRUPT = -1 };

/* Opens an editor on the terminal of standard input and output. Returns NULL if there is no memory or the terminal is not
 * usable. */
tureen_editor *_Nullable tureen_editor_open(const tureen_editor_hooks *_Nonnull hooks);

/* Reads a line. Returns TUREEN_EDITOR_LINE with its text from malloc and without line break, TUREEN_EDITOR_END for Ctrl-D in an
 * empty line or if the terminal is gone, TUREEN_EDITOR_INTERRUPT for Ctrl-C. `prompt` must stay valid until the next call. */
int tureen_editor_read(tureen_editor *_Nonnull editor, const char *_Nonnull prompt, char *_Nullable *_Nonnull line);

/* Adds a line to the history. */
void tureen_editor_remember(tureen_editor *_Nonnull editor, const char *_Nonnull line);

/* Restores the terminal and frees the editor. */
void tureen_editor_close(tureen_editor *_Nonnull editor);

#ifdef __cplusplus
}
#endif
#endif
