#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Why the system has not done something with a file, in words for people.
package enum SystemReason {
  /// The system's own words where it has some: the error lists all that Foundation knows.
  static func text(of error: any Error) -> String {
    (error as? CocoaError).flatMap(words) ?? "\(error)"
  }

  /// The system's own words; nil where it has none.
  package static func words(of error: CocoaError) -> String? {
    guard let cause = error.userInfo["NSUnderlyingError"] as? POSIXError, let text = strerror(cause.code.rawValue)
    else { return nil }
    return String(cString: text)
  }
}
