#pragma once

#include <stdbool.h>

/// Calls `body` with the metadata of each type of the program called `name`, without its module, until it returns
/// false. Generic types are left out.
void CoreDataEnumerateTypes(
    const char *_Nonnull name,
    bool (*_Nonnull body)(const void *_Nonnull metadata, void *_Nullable context),
    void *_Nullable context);
