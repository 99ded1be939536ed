// A small module in place of os, which hands on the one in place of OSLog.

@_exported public import OSLogStandIn
