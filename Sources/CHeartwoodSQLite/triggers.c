#include "CHeartwoodSQLite.h"

#include <sqlite3.h>
#include <stddef.h>

int heartwood_enable_triggers(struct sqlite3 *connection, int isEnabled) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, isEnabled, NULL);
}
