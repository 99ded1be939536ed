package import Foundation

/// An executable of the package whose tests run.
package enum BuiltExecutable {
  /// Where it lies: where the tests were built.
  ///
  /// - Throws: ``NotFound`` where it is not there, since the target of the tests does not depend on it.
  package static func url(named name: String) throws -> URL {
    #if os(macOS)
      let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
      let products = bundle?.bundleURL.deletingLastPathComponent()
    #else
      let products = Bundle.main.executableURL?.deletingLastPathComponent()
    #endif
    guard let url = products?.appending(path: name), FileManager.default.isExecutableFile(atPath: url.path) else {
      throw NotFound(name: name, folder: products?.path)
    }
    return url
  }

  package struct NotFound: Error, CustomStringConvertible {
    let name: String
    let folder: String?

    package var description: String { "There is no \(name) in \(folder ?? "a folder of tests")." }
  }
}
