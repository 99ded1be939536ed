#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension CocoaError {
  /// What happened to which file, in words for the user.
  var explanation: String {
    let path = (userInfo["NSFilePath"] as? String).map { "\($0): " } ?? ""
    guard let cause = userInfo["NSUnderlyingError"] as? POSIXError, let text = strerror(cause.code.rawValue) else {
      return "\(path)The file cannot be read or written (error \(code.rawValue))."
    }
    return "\(path)\(String(cString: text))."
  }
}
