#include "cpcre.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The bytes of a pattern, as of Parse Server's database, and the nesting of its groups. */
enum { LONGEST_PATTERN = 32764, DEEPEST_GROUP = 200 };
/* The milliseconds of processor time of one search, the steps from one start in the text, and the KiB of memory. */
enum { MOST_MS = 1000, MOST_STEPS = 10000000, MOST_KIBIBYTES = 20000 };
/* How many items of a pattern are tried between two looks at the clock. */
enum { ITEMS_PER_LOOK = 64 };

/* PCRE2's bits of options and its results; part of its binary interface. */
enum { CASELESS = 0x8, DOTALL = 0x20, EXTENDED = 0x80, MULTILINE = 0x400, UTF = 0x80000, NEVER_BACKSLASH_C = 0x100000 };
enum { AUTO_CALLOUT = 0x4, NO_UTF_CHECK = 0x40000000, NO_MATCH = -1, CALLOUT_ERROR = -37 };

typedef struct code code;
typedef struct match_data match_data;
typedef struct compile_context compile_context;
typedef struct match_context match_context;
typedef struct callout_block callout_block;

/* F(result, name, parameters) for each function of PCRE2 in use. */
#define FUNCTIONS                                                                                                            \
    F(code *, pcre2_compile_8, (const unsigned char *, size_t, uint32_t, int *, size_t *, compile_context *))                \
    F(void, pcre2_code_free_8, (code *))                                                                                     \
    F(compile_context *, pcre2_compile_context_create_8, (void *))                                                           \
    F(void, pcre2_compile_context_free_8, (compile_context *))                                                               \
    F(int, pcre2_set_max_pattern_length_8, (compile_context *, size_t))                                                      \
    F(int, pcre2_set_parens_nest_limit_8, (compile_context *, uint32_t))                                                     \
    F(match_context *, pcre2_match_context_create_8, (void *))                                                               \
    F(void, pcre2_match_context_free_8, (match_context *))                                                                   \
    F(int, pcre2_set_match_limit_8, (match_context *, uint32_t))                                                             \
    F(int, pcre2_set_heap_limit_8, (match_context *, uint32_t))                                                              \
    F(int, pcre2_set_callout_8, (match_context *, int (*)(callout_block *, void *), void *))                                 \
    F(match_data *, pcre2_match_data_create_8, (uint32_t, void *))                                                           \
    F(void, pcre2_match_data_free_8, (match_data *))                                                                         \
    F(int, pcre2_match_8,                                                                                                    \
      (const code *, const unsigned char *, size_t, size_t, uint32_t, match_data *, match_context *))                        \
    F(int, pcre2_get_error_message_8, (int, unsigned char *, size_t))

#define F(result, name, parameters) static result(*name) parameters;
FUNCTIONS
#undef F

struct cpcre_pattern {
    code *code;
    match_data *match;
    match_context *context;
    /* Of the running search: the items tried since the last look, and when it has to end. */
    int items;
    int64_t end;
};

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static int is_loaded;

/* Returns 1 if the library has all functions; otherwise fills `message`. */
static int load(char *message, size_t size) {
    if (is_loaded) return 1;
    void *handle = dlopen("libpcre2-8.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        const char *reason = dlerror();
        snprintf(
            message, size, "regular expressions need PCRE2; install it (Debian and Ubuntu: apt install libpcre2-8-0): %s",
            reason ? reason : "libpcre2-8.so.0");
        return 0;
    }
    const char *missing = NULL;
#define F(result, name, parameters)                                                                                          \
    if (!missing && !(*(void **)&name = dlsym(handle, #name))) missing = #name;
    FUNCTIONS
#undef F
    if (missing) snprintf(message, size, "PCRE2 is too old: it lacks %s; version 10.30 or newer is required", missing);
    return is_loaded = !missing;
}

static int prepare(char *message, size_t size) {
    pthread_mutex_lock(&loading);
    int is_usable = load(message, size);
    pthread_mutex_unlock(&loading);
    return is_usable;
}

/* Milliseconds of this thread's processor time. */
static int64_t processor_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Called by PCRE2 before it tries an item of the pattern. Its own limits hold for each start in the text alone. */
static int look(callout_block *block, void *argument) {
    (void)block;
    cpcre_pattern *pattern = argument;
    if (++pattern->items < ITEMS_PER_LOOK) return 0;
    pattern->items = 0;
    return processor_ms() < pattern->end ? 0 : CALLOUT_ERROR;
}

static code *compile(const char *text, size_t length, uint32_t options, char *message, size_t size) {
    compile_context *context = pcre2_compile_context_create_8(NULL);
    if (!context) {
        snprintf(message, size, "no memory");
        return NULL;
    }
    pcre2_set_max_pattern_length_8(context, LONGEST_PATTERN);
    pcre2_set_parens_nest_limit_8(context, DEEPEST_GROUP);
    int failure = 0;
    size_t offset = 0;
    code *result = pcre2_compile_8((const unsigned char *)text, length, options, &failure, &offset, context);
    pcre2_compile_context_free_8(context);
    if (result) return result;
    unsigned char reason[200];
    pcre2_get_error_message_8(failure, reason, sizeof reason);
    snprintf(message, size, "%s (at byte %zu)", (const char *)reason, offset);
    return NULL;
}

cpcre_pattern *cpcre_compile(const char *text, size_t length, int options, char *message, size_t size) {
    if (!prepare(message, size)) return NULL;
    uint32_t bits = UTF | NEVER_BACKSLASH_C | AUTO_CALLOUT;
    if (options & CPCRE_CASELESS) bits |= CASELESS;
    if (options & CPCRE_MULTILINE) bits |= MULTILINE;
    if (options & CPCRE_DOTALL) bits |= DOTALL;
    if (options & CPCRE_EXTENDED) bits |= EXTENDED;
    cpcre_pattern *pattern = calloc(1, sizeof *pattern);
    if (!pattern) {
        snprintf(message, size, "no memory");
        return NULL;
    }
    pattern->code = compile(text, length, bits, message, size);
    if (!pattern->code) {
        cpcre_free(pattern);
        return NULL;
    }
    pattern->match = pcre2_match_data_create_8(1, NULL);
    pattern->context = pcre2_match_context_create_8(NULL);
    if (!pattern->match || !pattern->context) {
        snprintf(message, size, "no memory");
        cpcre_free(pattern);
        return NULL;
    }
    pcre2_set_match_limit_8(pattern->context, MOST_STEPS);
    pcre2_set_heap_limit_8(pattern->context, MOST_KIBIBYTES);
    pcre2_set_callout_8(pattern->context, look, pattern);
    return pattern;
}

int cpcre_matches(cpcre_pattern *pattern, const char *text, size_t length, char *message, size_t size) {
    pattern->items = 0;
    pattern->end = processor_ms() + MOST_MS;
    int result = pcre2_match_8(
        pattern->code, (const unsigned char *)text, length, 0, NO_UTF_CHECK, pattern->match, pattern->context);
    /* 0 is a match as well: there is only room for the place of the whole. */
    if (result >= 0) return 1;
    if (result == NO_MATCH) return 0;
    if (result == CALLOUT_ERROR) {
        snprintf(message, size, "more than a second of processor time");
        return -1;
    }
    unsigned char reason[200];
    pcre2_get_error_message_8(result, reason, sizeof reason);
    snprintf(message, size, "%s", (const char *)reason);
    return -1;
}

void cpcre_free(cpcre_pattern *pattern) {
    if (pattern->context) pcre2_match_context_free_8(pattern->context);
    if (pattern->match) pcre2_match_data_free_8(pattern->match);
    if (pattern->code) pcre2_code_free_8(pattern->code);
    free(pattern);
}
