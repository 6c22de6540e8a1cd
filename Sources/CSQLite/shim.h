// SQLite's C API, as Debian's libsqlite3-dev installs it, with what its macros keep from Swift.
#include <sqlite3.h>
#include "functions.h"
