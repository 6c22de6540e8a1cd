// SQLite's C API, as Debian's libsqlite3-dev installs it, with what its macros keep from Swift.
#include <sqlite3.h>

// SQLITE_STATIC and SQLITE_TRANSIENT are casts of integers to function pointers, which Swift cannot import.
static inline int csqlite_bind_text_static(sqlite3_stmt *statement, int index, const void *text, int length) {
  return sqlite3_bind_text(statement, index, (const char *)text, length, SQLITE_STATIC);
}
static inline int csqlite_bind_text_transient(sqlite3_stmt *statement, int index, const void *text, int length) {
  return sqlite3_bind_text(statement, index, (const char *)text, length, SQLITE_TRANSIENT);
}
static inline int csqlite_bind_blob_transient(sqlite3_stmt *statement, int index, const void *bytes, int length) {
  return sqlite3_bind_blob(statement, index, bytes, length, SQLITE_TRANSIENT);
}
// sqlite3_db_config is variadic, which Swift cannot call.
static inline int csqlite_db_config_flag(sqlite3 *database, int option, int value) {
  return sqlite3_db_config(database, option, value, (int *)0);
}
