#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Why the system has not done something with a file, in words for people.
enum SystemReason {
  /// The system's own words where it has some: the error lists all that Foundation knows.
  static func text(of error: any Error) -> String {
    guard let cause = (error as? CocoaError)?.userInfo["NSUnderlyingError"] as? POSIXError,
      let text = strerror(cause.code.rawValue)
    else { return "\(error)" }
    return String(cString: text)
  }
}
