/* What the prompt of `tureen repl` needs from C: a line editor over libedit, and the Lua text behind the prompt. */
#ifndef TUREEN_REPL_H
#define TUREEN_REPL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The Lua sources: how values are shown (it returns a module), and what the prompt does (it returns a function). */
extern const char *_Nonnull const tureen_repl_values;
extern const size_t tureen_repl_values_length;
extern const char *_Nonnull const tureen_repl_text;
extern const size_t tureen_repl_text_length;

/* What the editor asks its owner, on the thread that reads. */
typedef struct tureen_editor_hooks {
  void *_Nullable context;
  /* Watched while a line is being typed; `news` is called when it becomes readable, with the line out of the way: what is
   * written to standard output then stands above the line. */
  int news_fd;
  void (*_Nonnull news)(void *_Nullable context);
  /* The candidates for what stands before the cursor, as text from malloc: how many bytes they replace, then one a line. */
  char *_Nullable (*_Nonnull complete)(void *_Nullable context, const char *_Nonnull line, size_t length);
} tureen_editor_hooks;

typedef struct tureen_editor tureen_editor;

enum { TUREEN_EDITOR_LINE = 1, TUREEN_EDITOR_END = 0, TUREEN_EDITOR_INTERRUPT = -1 };

/* Takes over the terminal of standard input and output. NULL when there is no memory, or the terminal is of no use. */
tureen_editor *_Nullable tureen_editor_open(const tureen_editor_hooks *_Nonnull hooks);

/* Reads a line: TUREEN_EDITOR_LINE with its text from malloc and no line break, TUREEN_EDITOR_END for Ctrl-D in an empty line
 * or a terminal that is gone, TUREEN_EDITOR_INTERRUPT for Ctrl-C. The prompt must stay until the next call. */
int tureen_editor_read(tureen_editor *_Nonnull editor, const char *_Nonnull prompt, char *_Nullable *_Nonnull line);

/* Puts a line where the arrow keys find it. */
void tureen_editor_remember(tureen_editor *_Nonnull editor, const char *_Nonnull line);

/* Gives the terminal back as it was. */
void tureen_editor_close(tureen_editor *_Nonnull editor);

#ifdef __cplusplus
}
#endif
#endif
