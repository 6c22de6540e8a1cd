/* A line editor based on libedit, with its own wait loop, so that events appear above the line that is being typed. */
#define _GNU_SOURCE
#include <errno.h>
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "include/tureen_repl.h"

struct tureen_editor {
  tureen_editor_hooks hooks;
  EditLine *el;
  History *history;
  const char *prompt;
  int is_interrupted;
  int columns; /* the width that libedit was last told */
};

static tureen_editor *self(EditLine *el) {
  void *editor = NULL;
  el_get(el, EL_CLIENTDATA, &editor);
  return editor;
}

static char *prompt_of(EditLine *el) { return (char *)self(el)->prompt; }

static int columns(void) {
  struct winsize size;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* Returns the number of columns of a text. Bytes that are not valid characters count as one. */
static int width_of(const char *text, size_t length) {
  mbstate_t state;
  memset(&state, 0, sizeof state);
  int width = 0;
  while (length > 0) {
    wchar_t character;
    size_t used = mbrtowc(&character, text, length, &state);
    if (used == 0 || used > length) {
      memset(&state, 0, sizeof state);
      used = 1;
      width++;
    } else {
      int own = wcwidth(character);
      width += own < 0 ? 1 : own;
    }
    text += used;
    length -= used;
  }
  return width;
}

/* Erases the prompt and the line from the screen, and moves the cursor to where they began. */
static void hide(tureen_editor *editor) {
  const LineInfo *line = el_line(editor->el);
  int before = width_of(editor->prompt, strlen(editor->prompt)) +
               width_of(line->buffer, (size_t)(line->cursor - line->buffer));
  int rows = before / columns();
  fputs("\r", stdout);
  if (rows > 0) fprintf(stdout, "\033[%dA", rows);
  fputs("\033[J", stdout);
  fflush(stdout);
}

/* Informs libedit of a changed terminal size. */
static void fit(tureen_editor *editor) {
  int now = columns();
  if (now == editor->columns) return;
  editor->columns = now;
  el_resize(editor->el);
}

static void show_events(tureen_editor *editor) {
  fit(editor);
  hide(editor);
  editor->hooks.events(editor->hooks.context);
  fflush(stdout);
  el_wset(editor->el, EL_REFRESH);
}

/* Waits until input can be read, and shows events meanwhile. Returns 1, or 0 if the terminal is gone. */
static int wait_for_key(tureen_editor *editor) {
  for (;;) {
    struct pollfd ready[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = editor->hooks.events_fd, .events = POLLIN}};
    if (poll(ready, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return 0;
    }
    if (ready[0].revents != 0) {
      fit(editor);
      return 1;
    }
    if (ready[1].revents != 0) show_events(editor);
  }
}

/* Reads the next multibyte character. Returns 1, or 0 at the end of input. */
static int read_key(EditLine *el, wchar_t *character) {
  tureen_editor *editor = self(el);
  mbstate_t state;
  memset(&state, 0, sizeof state);
  for (;;) {
    char byte;
    if (!wait_for_key(editor)) return 0;
    ssize_t count = read(STDIN_FILENO, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return 0;
    size_t used = mbrtowc(character, &byte, 1, &state);
    if (used == (size_t)-2) continue; /* the character is incomplete */
    if (used == (size_t)-1) *character = (unsigned char)byte;
    if (used == 0) *character = 0;
    return 1;
  }
}

static unsigned char interrupt(EditLine *el, int key) {
  (void)key;
  self(el)->is_interrupted = 1;
  fputs("^C\n", stdout);
  fflush(stdout);
  return CC_EOF;
}

/* Prints the candidates in columns below the line. */
static void list_candidates(char *candidates, int longest) {
  int width = longest + 2, across = columns() / width, column = 0;
  fputs("\n", stdout);
  for (char *rest = candidates, *name; (name = strsep(&rest, "\n")) != NULL;) {
    if (*name == 0) continue;
    int is_last = across <= 1 || column == across - 1 || rest == NULL || *rest == 0;
    fprintf(stdout, "%s%*s", name, is_last ? 0 : width - width_of(name, strlen(name)), "");
    if (is_last) fputs("\n", stdout);
    column = is_last ? 0 : column + 1;
  }
  fflush(stdout);
}

/* Returns the length in bytes of the candidates' common prefix; sets their number and the width of the widest. */
static size_t common_start(const char *candidates, int *count, int *longest) {
  const char *first = candidates;
  size_t common = 0;
  *count = *longest = 0;
  while (*candidates != 0) {
    size_t length = strcspn(candidates, "\n");
    int width = width_of(candidates, length);
    if (length > 0 && (*count)++ == 0) {
      first = candidates;
      common = length;
    }
    size_t same = 0;
    while (same < common && same < length && first[same] == candidates[same]) same++;
    if (length > 0) common = same;
    if (width > *longest) *longest = width;
    candidates += length + (candidates[length] == '\n');
  }
  /* Do not split a character. */
  while (common > 0 && ((unsigned char)first[common] & 0xC0) == 0x80) common--;
  return common;
}

/* Tab: inserts the common prefix of all candidates, or lists them if there is nothing to insert. At the start of a line it
 * indents. */
static unsigned char complete(EditLine *el, int key) {
  (void)key;
  tureen_editor *editor = self(el);
  const LineInfo *line = el_line(el);
  size_t length = (size_t)(line->cursor - line->buffer);
  if (strspn(line->buffer, " \t") >= length) return el_insertstr(el, "  ") == 0 ? CC_REFRESH : CC_ERROR;
  char *text = editor->hooks.complete(editor->hooks.context, line->buffer, length);
  if (text == NULL) return CC_REFRESH_BEEP;
  char *candidates = NULL;
  size_t typed = strtoul(text, &candidates, 10);
  if (*candidates == '\n') candidates++;
  int count, longest;
  size_t common = common_start(candidates, &count, &longest);
  unsigned char result = CC_REFRESH_BEEP;
  if (count > 0 && common > typed) {
    char *added = strndup(candidates + typed, common - typed);
    result = added != NULL && el_insertstr(el, added) == 0 ? CC_REFRESH : CC_ERROR;
    free(added);
  } else if (count > 1) {
    list_candidates(candidates, longest);
    result = CC_REDISPLAY;
  }
  free(text);
  return result;
}

/* Uses UTF-8 independent of the environment. */
static void use_utf8(void) {
  setlocale(LC_CTYPE, "");
  if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
}

static int set_up(tureen_editor *editor) {
  EditLine *el = editor->el;
  HistEvent event;
  return el_set(el, EL_CLIENTDATA, editor) == 0 && el_set(el, EL_PROMPT, prompt_of) == 0 &&
         el_set(el, EL_EDITOR, "emacs") == 0 && history(editor->history, &event, H_SETSIZE, 1000) >= 0 &&
         history(editor->history, &event, H_SETUNIQUE, 1) >= 0 && el_set(el, EL_HIST, history, editor->history) == 0 &&
         el_set(el, EL_GETCFN, read_key) == 0 && el_set(el, EL_SETTY, "-d", "-isig", NULL) == 0 &&
         el_set(el, EL_ADDFN, "tureen-interrupt", "gives the line up", interrupt) == 0 &&
         el_set(el, EL_ADDFN, "tureen-complete", "completes a name", complete) == 0 &&
         el_set(el, EL_BIND, "^C", "tureen-interrupt", NULL) == 0 &&
         el_set(el, EL_BIND, "^I", "tureen-complete", NULL) == 0 &&
         el_set(el, EL_BIND, "^R", "em-inc-search-prev", NULL) == 0;
}

tureen_editor *tureen_editor_open(const tureen_editor_hooks *hooks) {
  tureen_editor *editor = calloc(1, sizeof *editor);
  if (editor == NULL) return NULL;
  use_utf8();
  editor->hooks = *hooks;
  editor->prompt = "";
  editor->history = history_init();
  editor->el = el_init("tureen", stdin, stdout, stderr);
  if (editor->history != NULL && editor->el != NULL && set_up(editor)) return editor;
  tureen_editor_close(editor);
  return NULL;
}

int tureen_editor_read(tureen_editor *editor, const char *prompt, char **line) {
  int count = 0;
  editor->prompt = prompt;
  editor->is_interrupted = 0;
  *line = NULL;
  fflush(stdout);
  editor->columns = columns();
  el_resize(editor->el);
  /* Set raw mode before the prompt is shown: a Ctrl-D that arrives in line mode would be lost. */
  el_set(editor->el, EL_PREP_TERM, 1);
  const char *text = el_gets(editor->el, &count);
  if (editor->is_interrupted) return TUREEN_EDITOR_INTERRUPT;
  if (text == NULL || count <= 0) return TUREEN_EDITOR_END;
  size_t length = strcspn(text, "\n");
  *line = strndup(text, length);
  return *line == NULL ? TUREEN_EDITOR_END : TUREEN_EDITOR_LINE;
}

void tureen_editor_remember(tureen_editor *editor, const char *line) {
  HistEvent event;
  history(editor->history, &event, H_ENTER, line);
}

void tureen_editor_close(tureen_editor *editor) {
  if (editor->el != NULL) el_end(editor->el);
  if (editor->history != NULL) history_end(editor->history);
  free(editor);
}
