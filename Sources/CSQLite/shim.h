#pragma once
#include <sqlite3.h>

/// `sqlite3_db_config` is variadic, which Swift cannot call. Closing the connection then leaves the log as it
/// is.
static inline int csqlite_leave_log(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
