// What Swift cannot call of SQLite, or not as it is. For the headers of CSQLite and CSQLCipher, behind SQLite's own.
#ifndef TUREEN_SQLITE_FUNCTIONS_H
#define TUREEN_SQLITE_FUNCTIONS_H

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
// Likewise sqlite3_config.
static inline int csqlite_config_memory_status(int is_counted) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, is_counted);
}
static inline int csqlite_bind_blob_static(sqlite3_stmt *statement, int index, const void *bytes, int length) {
  return sqlite3_bind_blob(statement, index, bytes, length, SQLITE_STATIC);
}

// The size of the main database's file and its first bytes, zeros where it has fewer. Through the descriptor that SQLite has
// open: opening and closing another one would take this process's locks off the file.
static inline int csqlite_file_start(sqlite3 *database, void *bytes, int count, sqlite3_int64 *size) {
  sqlite3_file *file = 0;
  int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  *size = 0;
  if (code != SQLITE_OK || !file || !file->pMethods) return code;
  code = file->pMethods->xFileSize(file, size);
  if (code != SQLITE_OK) return code;
  code = file->pMethods->xRead(file, bytes, count, 0);
  return code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code;
}

#include "linear.h"
#include "matching.h"

#endif
