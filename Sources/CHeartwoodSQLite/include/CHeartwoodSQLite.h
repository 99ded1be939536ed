#ifndef CHEARTWOODSQLITE_H
#define CHEARTWOODSQLITE_H

struct sqlite3;

/// Lets the triggers of a connection's databases run, or not: sqlite3_db_config() is a variadic function, which Swift does not call.
///
/// Returns a result code of SQLite.
int heartwood_enable_triggers(struct sqlite3 *connection, int isEnabled);

#endif
