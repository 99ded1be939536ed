import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The folders that a case makes on the disk, which are gone when it ends.
final class ConformanceFolders: Sendable {
  private let paths = Mutex<[String]>([])

  /// A new folder that nobody else has.
  func make() throws -> String {
    let url = FileManager.default.temporaryDirectory.appending(path: "heartwood-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    paths.withLock { $0.append(url.path) }
    return url.path
  }

  func remove() {
    for path in paths.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
  }
}
