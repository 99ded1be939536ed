// Apple's CoreData hands on Foundation, and code that imports CoreData alone relies on it.
@_exported public import Foundation

// Constants that come with Foundation on Apple's systems, and with no module here.

/// The nanoseconds in a second.
public let NSEC_PER_SEC: UInt64 = 1_000_000_000
/// The nanoseconds in a millisecond.
public let NSEC_PER_MSEC: UInt64 = 1_000_000
/// The nanoseconds in a microsecond.
public let NSEC_PER_USEC: UInt64 = 1000
/// The microseconds in a second.
public let USEC_PER_SEC: UInt64 = 1_000_000
