#include "cpostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The beginning of libpq's PGnotify; the rest is its own. */
typedef struct {
    char *channel;
    int backend;
    char *payload;
} notification;

typedef void (*notice_receiver)(void *context, const cpostgres_result *result);

/* libpq's PQERRORS_VERBOSE: messages of a failed connection then contain the SQLSTATE, which has no accessor of its own there. */
enum { VERBOSE = 2 };

/* F(result, name, parameters) for each function of libpq in use. Those of the pipeline mode exist since version 14. */
#define FUNCTIONS                                                                                                            \
    F(int, PQlibVersion, (void))                                                                                             \
    F(int, PQisthreadsafe, (void))                                                                                           \
    F(cpostgres_connection *, PQconnectStartParams, (const char *const *, const char *const *, int))                         \
    F(int, PQconnectPoll, (cpostgres_connection *))                                                                          \
    F(void, PQfinish, (cpostgres_connection *))                                                                              \
    F(int, PQstatus, (const cpostgres_connection *))                                                                         \
    F(int, PQtransactionStatus, (const cpostgres_connection *))                                                              \
    F(int, PQsocket, (const cpostgres_connection *))                                                                         \
    F(int, PQbackendPID, (const cpostgres_connection *))                                                                     \
    F(int, PQserverVersion, (const cpostgres_connection *))                                                                  \
    F(int, PQconnectionNeedsPassword, (const cpostgres_connection *))                                                        \
    F(char *, PQerrorMessage, (const cpostgres_connection *))                                                                \
    F(int, PQsetErrorVerbosity, (cpostgres_connection *, int))                                                               \
    F(notice_receiver, PQsetNoticeReceiver, (cpostgres_connection *, notice_receiver, void *))                               \
    F(int, PQsetnonblocking, (cpostgres_connection *, int))                                                                  \
    F(int, PQflush, (cpostgres_connection *))                                                                                \
    F(int, PQconsumeInput, (cpostgres_connection *))                                                                         \
    F(int, PQisBusy, (cpostgres_connection *))                                                                               \
    F(int, PQenterPipelineMode, (cpostgres_connection *))                                                                    \
    F(int, PQexitPipelineMode, (cpostgres_connection *))                                                                     \
    F(int, PQpipelineSync, (cpostgres_connection *))                                                                         \
    F(int, PQsendQuery, (cpostgres_connection *, const char *))                                                              \
    F(int, PQsendPrepare, (cpostgres_connection *, const char *, const char *, int, const cpostgres_oid *))                  \
    F(int, PQsendQueryPrepared,                                                                                              \
      (cpostgres_connection *, const char *, int, const char *const *, const int *, const int *, int))                       \
    F(int, PQputCopyData, (cpostgres_connection *, const char *, int))                                                       \
    F(int, PQputCopyEnd, (cpostgres_connection *, const char *))                                                             \
    F(int, PQsetSingleRowMode, (cpostgres_connection *))                                                                     \
    F(cpostgres_result *, PQgetResult, (cpostgres_connection *))                                                             \
    F(int, PQresultStatus, (const cpostgres_result *))                                                                       \
    F(char *, PQresultErrorField, (const cpostgres_result *, int))                                                           \
    F(char *, PQcmdTuples, (cpostgres_result *))                                                                             \
    F(int, PQntuples, (const cpostgres_result *))                                                                            \
    F(int, PQnfields, (const cpostgres_result *))                                                                            \
    F(int, PQfnumber, (const cpostgres_result *, const char *))                                                              \
    F(cpostgres_oid, PQftype, (const cpostgres_result *, int))                                                               \
    F(int, PQgetisnull, (const cpostgres_result *, int, int))                                                                \
    F(char *, PQgetvalue, (const cpostgres_result *, int, int))                                                              \
    F(int, PQgetlength, (const cpostgres_result *, int, int))                                                                \
    F(void, PQclear, (cpostgres_result *))                                                                                   \
    F(notification *, PQnotifies, (cpostgres_connection *))                                                                  \
    F(void, PQfreemem, (void *))                                                                                             \
    F(cpostgres_cancel *, PQgetCancel, (cpostgres_connection *))                                                             \
    F(int, PQcancel, (cpostgres_cancel *, char *, int))                                                                      \
    F(void, PQfreeCancel, (cpostgres_cancel *))

#define F(result, name, parameters) static result(*name) parameters;
FUNCTIONS
#undef F

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static int is_loaded;

/* Returns 1 if the library has all functions; otherwise fills `message`. Changes nothing then. */
static int load(const char *library, char *message, size_t size) {
    /* Local: a program around us may have another libpq. It stays loaded: OpenSSL's handlers run when the process ends. */
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        const char *reason = dlerror();
        snprintf(
            message, size, "PostgreSQL's client library cannot be loaded; install it (Debian and Ubuntu: apt install libpq5): %s",
            reason ? reason : library);
        return 0;
    }
    const char *missing = NULL;
#define F(result, name, parameters)                                                                                          \
    if (!missing && !dlsym(handle, #name)) missing = #name;
    FUNCTIONS
#undef F
    if (missing) {
        snprintf(
            message, size, "PostgreSQL's client library %s is too old: it lacks %s; version 14 or newer is required", library,
            missing);
        return 0;
    }
    if (is_loaded) return 1;
#define F(result, name, parameters) *(void **)&name = dlsym(handle, #name);
    FUNCTIONS
#undef F
    if (!PQisthreadsafe()) {
        snprintf(message, size, "PostgreSQL's client library %s was built without support for threads", library);
        return 0;
    }
    return is_loaded = 1;
}

int cpostgres_load(const char *library, char *message, size_t size) {
    pthread_mutex_lock(&loading);
    int is_usable = (is_loaded && !library) || load(library ? library : "libpq.so.5", message, size);
    pthread_mutex_unlock(&loading);
    return is_usable;
}

int cpostgres_library_version(void) { return PQlibVersion(); }

/* Without it, libpq prints notices to standard error. */
static void drop_notice(void *context, const cpostgres_result *result) {
    (void)context;
    (void)result;
}

cpostgres_connection *cpostgres_connect_start(const char *const *keywords, const char *const *values) {
    cpostgres_connection *connection = PQconnectStartParams(keywords, values, 0);
    if (!connection) return NULL;
    PQsetErrorVerbosity(connection, VERBOSE);
    PQsetNoticeReceiver(connection, drop_notice, NULL);
    return connection;
}

int cpostgres_connect_poll(cpostgres_connection *connection) { return PQconnectPoll(connection); }
void cpostgres_finish(cpostgres_connection *connection) { PQfinish(connection); }

int cpostgres_status(const cpostgres_connection *connection) { return PQstatus(connection); }
int cpostgres_transaction_status(const cpostgres_connection *connection) { return PQtransactionStatus(connection); }
int cpostgres_socket(const cpostgres_connection *connection) { return PQsocket(connection); }
int cpostgres_backend_id(const cpostgres_connection *connection) { return PQbackendPID(connection); }
int cpostgres_server_version(const cpostgres_connection *connection) { return PQserverVersion(connection); }
int cpostgres_needs_password(const cpostgres_connection *connection) { return PQconnectionNeedsPassword(connection); }
const char *cpostgres_error_message(const cpostgres_connection *connection) { return PQerrorMessage(connection); }

int cpostgres_set_nonblocking(cpostgres_connection *connection) { return PQsetnonblocking(connection, 1); }
int cpostgres_flush(cpostgres_connection *connection) { return PQflush(connection); }
int cpostgres_consume_input(cpostgres_connection *connection) { return PQconsumeInput(connection); }
int cpostgres_is_busy(cpostgres_connection *connection) { return PQisBusy(connection); }
int cpostgres_enter_pipeline(cpostgres_connection *connection) { return PQenterPipelineMode(connection); }
int cpostgres_exit_pipeline(cpostgres_connection *connection) { return PQexitPipelineMode(connection); }
int cpostgres_pipeline_sync(cpostgres_connection *connection) { return PQpipelineSync(connection); }

int cpostgres_send_query(cpostgres_connection *connection, const char *sql) { return PQsendQuery(connection, sql); }

int cpostgres_send_prepare(
    cpostgres_connection *connection, const char *name, const char *sql, int count, const cpostgres_oid *types) {
    return PQsendPrepare(connection, name, sql, count, types);
}

int cpostgres_send_prepared(
    cpostgres_connection *connection, const char *name, int count, const char *const *values, const int *lengths,
    const int *formats) {
    return PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1);
}

int cpostgres_put_copy_data(cpostgres_connection *connection, const char *bytes, int count) {
    return PQputCopyData(connection, bytes, count);
}
int cpostgres_put_copy_end(cpostgres_connection *connection, const char *error) { return PQputCopyEnd(connection, error); }

int cpostgres_set_single_row_mode(cpostgres_connection *connection) { return PQsetSingleRowMode(connection); }
cpostgres_result *cpostgres_get_result(cpostgres_connection *connection) { return PQgetResult(connection); }
int cpostgres_result_status(const cpostgres_result *result) { return PQresultStatus(result); }
const char *cpostgres_result_field(const cpostgres_result *result, int field) { return PQresultErrorField(result, field); }
const char *cpostgres_command_tuples(cpostgres_result *result) { return PQcmdTuples(result); }
int cpostgres_row_count(const cpostgres_result *result) { return PQntuples(result); }
int cpostgres_column_count(const cpostgres_result *result) { return PQnfields(result); }
int cpostgres_column_number(const cpostgres_result *result, const char *name) { return PQfnumber(result, name); }
cpostgres_oid cpostgres_column_type(const cpostgres_result *result, int column) { return PQftype(result, column); }
int cpostgres_is_null(const cpostgres_result *result, int row, int column) { return PQgetisnull(result, row, column); }
const char *cpostgres_value(const cpostgres_result *result, int row, int column) { return PQgetvalue(result, row, column); }
int cpostgres_length(const cpostgres_result *result, int row, int column) { return PQgetlength(result, row, column); }
void cpostgres_clear(cpostgres_result *result) { PQclear(result); }

int cpostgres_take_notification(cpostgres_connection *connection, char **channel, char **payload) {
    notification *next = PQnotifies(connection);
    if (!next) return 0;
    *channel = strdup(next->channel);
    *payload = strdup(next->payload);
    PQfreemem(next);
    return 1;
}

cpostgres_cancel *cpostgres_cancel_of(cpostgres_connection *connection) { return PQgetCancel(connection); }

int cpostgres_cancel_send(cpostgres_cancel *cancel) {
    char message[256];
    return PQcancel(cancel, message, sizeof message);
}

void cpostgres_cancel_free(cpostgres_cancel *cancel) { PQfreeCancel(cancel); }
