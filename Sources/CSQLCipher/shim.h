// SQLCipher's C API, as libsqlcipher-dev installs it: SQLite's own with keys. Used in place of CSQLite with the trait Encryption.
#define SQLITE_HAS_CODEC 1
#include <sqlcipher/sqlite3.h>

#if SQLITE_VERSION_NUMBER < 3038000
#error "SQLCipher 4.5.2 or newer is needed (Debian 13, Ubuntu 24.04); scripts/dev/sqlcipher builds one on older systems"
#endif

#include "../CSQLite/functions.h"
