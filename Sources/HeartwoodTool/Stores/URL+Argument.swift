#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension URL {
  /// The file that an argument names. A tilde is a character of the name: the shell has replaced each that means a home.
  init(argument path: String) {
    self.init(filePath: path.hasPrefix("~") ? "./" + path : path)
  }
}
