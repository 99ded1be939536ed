package import HeartwoodFoundation
import HeartwoodStore

/// A temporary folder for the files of one test, which is removed when the object is released.
package final class ScratchFolder: Sendable {
  package let url: URL

  package init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "Heartwood-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  package func path(_ name: String) -> String { url.appending(path: name).path }

  /// Writes `text` to the file at `path` in the folder. Missing folders are created.
  @discardableResult
  package func write(_ text: String, to path: String) throws -> URL {
    try write(Data(text.utf8), to: path)
  }

  @discardableResult
  package func write(_ data: Data, to path: String) throws -> URL {
    let file = url.appending(path: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file)
    return file
  }

  /// Returns the names of everything in the folder, sorted.
  package func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
  }

  /// Returns the bytes of the regular files directly in the folder, by name.
  package func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try names() {
      guard try POSIXFileSystem().status(atPath: path(name))?.isRegularFile == true else { continue }
      files[name] = try Data(contentsOf: url.appending(path: name))
    }
    return files
  }
}
