import Heartwood
import Synchronization

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The folders that a case makes on the disk, which are gone when it ends.
package final class ConformanceFolders: Sendable {
  private let paths = Mutex<[String]>([])

  package init() {}

  /// A new folder that nobody else has, by the path that leads there without links: stores tell where their files really are.
  package func make(in parent: URL = FileManager.default.temporaryDirectory) throws -> String {
    let url = parent.appending(path: "heartwood-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let path = try POSIXFileSystem().resolvingSymbolicLinks(inPath: url.path)
    paths.withLock { $0.append(path) }
    return path
  }

  package func remove() {
    for path in paths.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
  }
}
