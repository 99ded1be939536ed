import HeartwoodFormats

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension CocoaError {
  /// What happened to which file, in words for the user.
  ///
  /// - Parameter shown: what the user calls a file of that path.
  func explanation(_ shown: (String) -> String) -> String {
    let file = userInfo["NSFilePath"] as? String ?? (userInfo["NSURL"] as? URL)?.path
    let path = file.map { "\(shown($0)): " } ?? ""
    guard let words = SystemReason.words(of: self) else {
      return "\(path)The file cannot be read or written (error \(code.rawValue))."
    }
    return "\(path)\(words)."
  }
}
