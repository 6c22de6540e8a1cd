/* libpq, loaded at run time: a host that keeps its stores in SQLite needs neither the library nor its headers, and libpq's own
 * dependencies (OpenSSL, Kerberos, LDAP) are not linked. The functions are libpq's, under the names of its manual with the prefix
 * `cpostgres_`; they may be called after cpostgres_load has succeeded. Source: PostgreSQL 15, src/interfaces/libpq. */
#ifndef CPOSTGRES_H
#define CPOSTGRES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pg_conn cpostgres_connection;
typedef struct pg_result cpostgres_result;
typedef struct pg_cancel cpostgres_cancel;
typedef unsigned int cpostgres_oid;

/* Values of libpq's enumerations. They are part of its binary interface, which has not changed since version 5. */
enum { CPOSTGRES_CONNECTION_OK = 0, CPOSTGRES_CONNECTION_BAD = 1 };
enum { CPOSTGRES_POLLING_FAILED = 0, CPOSTGRES_POLLING_READING = 1, CPOSTGRES_POLLING_WRITING = 2, CPOSTGRES_POLLING_OK = 3 };
enum {
  CPOSTGRES_EMPTY_QUERY = 0,
  CPOSTGRES_COMMAND_OK = 1,
  CPOSTGRES_TUPLES_OK = 2,
  CPOSTGRES_COPY_OUT = 3,
  CPOSTGRES_COPY_IN = 4,
  CPOSTGRES_BAD_RESPONSE = 5,
  CPOSTGRES_NONFATAL_ERROR = 6,
  CPOSTGRES_FATAL_ERROR = 7,
  CPOSTGRES_SINGLE_TUPLE = 9,
  CPOSTGRES_PIPELINE_SYNC = 10,
  CPOSTGRES_PIPELINE_ABORTED = 11,
};
enum { CPOSTGRES_IDLE = 0, CPOSTGRES_ACTIVE = 1, CPOSTGRES_IN_TRANSACTION = 2, CPOSTGRES_IN_ERROR = 3, CPOSTGRES_UNKNOWN = 4 };

/* Loads `library` (NULL: libpq.so.5) the first time. Returns 0 and fills `message` if it cannot be used. Thread-safe. */
int cpostgres_load(const char *_Nullable library, char *_Nonnull message, size_t size);

/* PQlibVersion, such as 150003. */
int cpostgres_library_version(void);

/* PQconnectStartParams. Notices of the server are dropped, and messages have SQLSTATEs. Returns NULL if there is no memory. */
cpostgres_connection *_Nullable cpostgres_connect_start(
    const char *_Nullable const *_Nonnull keywords, const char *_Nullable const *_Nonnull values);
int cpostgres_connect_poll(cpostgres_connection *_Nonnull connection);
void cpostgres_finish(cpostgres_connection *_Nonnull connection);

int cpostgres_status(const cpostgres_connection *_Nonnull connection);
int cpostgres_transaction_status(const cpostgres_connection *_Nonnull connection);
int cpostgres_socket(const cpostgres_connection *_Nonnull connection);
int cpostgres_backend_id(const cpostgres_connection *_Nonnull connection);
int cpostgres_server_version(const cpostgres_connection *_Nonnull connection);
/* True if the server asked for a password and there was none. */
int cpostgres_needs_password(const cpostgres_connection *_Nonnull connection);
const char *_Nonnull cpostgres_error_message(const cpostgres_connection *_Nonnull connection);

int cpostgres_set_nonblocking(cpostgres_connection *_Nonnull connection);
int cpostgres_flush(cpostgres_connection *_Nonnull connection);
int cpostgres_consume_input(cpostgres_connection *_Nonnull connection);
int cpostgres_is_busy(cpostgres_connection *_Nonnull connection);
int cpostgres_enter_pipeline(cpostgres_connection *_Nonnull connection);
int cpostgres_exit_pipeline(cpostgres_connection *_Nonnull connection);
int cpostgres_pipeline_sync(cpostgres_connection *_Nonnull connection);

/* One or more statements without parameters; results are text. */
int cpostgres_send_query(cpostgres_connection *_Nonnull connection, const char *_Nonnull sql);
int cpostgres_send_prepare(
    cpostgres_connection *_Nonnull connection, const char *_Nonnull name, const char *_Nonnull sql, int count,
    const cpostgres_oid *_Nullable types);
/* Parameters and results are binary. libpq copies the values. */
int cpostgres_send_prepared(
    cpostgres_connection *_Nonnull connection, const char *_Nonnull name, int count,
    const char *_Nullable const *_Nullable values, const int *_Nullable lengths, const int *_Nullable formats);

int cpostgres_put_copy_data(cpostgres_connection *_Nonnull connection, const char *_Nonnull bytes, int count);
int cpostgres_put_copy_end(cpostgres_connection *_Nonnull connection, const char *_Nullable error);

/* For the statement whose results come next: each of its rows becomes a result of its own, before the whole has arrived. */
int cpostgres_set_single_row_mode(cpostgres_connection *_Nonnull connection);
cpostgres_result *_Nullable cpostgres_get_result(cpostgres_connection *_Nonnull connection);
int cpostgres_result_status(const cpostgres_result *_Nonnull result);
/* `field` is a letter of the protocol's ErrorResponse: C SQLSTATE, M message, s schema, t table, c column, n constraint. */
const char *_Nullable cpostgres_result_field(const cpostgres_result *_Nonnull result, int field);
const char *_Nonnull cpostgres_command_tuples(cpostgres_result *_Nonnull result);
int cpostgres_row_count(const cpostgres_result *_Nonnull result);
int cpostgres_column_count(const cpostgres_result *_Nonnull result);
/* -1 if there is no such column. */
int cpostgres_column_number(const cpostgres_result *_Nonnull result, const char *_Nonnull name);
cpostgres_oid cpostgres_column_type(const cpostgres_result *_Nonnull result, int column);
int cpostgres_is_null(const cpostgres_result *_Nonnull result, int row, int column);
const char *_Nullable cpostgres_value(const cpostgres_result *_Nonnull result, int row, int column);
int cpostgres_length(const cpostgres_result *_Nonnull result, int row, int column);
void cpostgres_clear(cpostgres_result *_Nonnull result);

/* Takes the next notification off the queue, as two strings from malloc. Returns 0 if there is none. */
int cpostgres_take_notification(
    cpostgres_connection *_Nonnull connection, char *_Nullable *_Nonnull channel, char *_Nullable *_Nonnull payload);

/* The data of a cancel request; valid also after the connection has been closed. */
cpostgres_cancel *_Nullable cpostgres_cancel_of(cpostgres_connection *_Nonnull connection);
/* Asks the server to cancel what the connection is running. Any thread; opens a connection of its own. Returns 0 on failure. */
int cpostgres_cancel_send(cpostgres_cancel *_Nonnull cancel);
void cpostgres_cancel_free(cpostgres_cancel *_Nonnull cancel);

#ifdef __cplusplus
}
#endif
#endif
