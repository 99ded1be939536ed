package import HeartwoodFoundation
import HeartwoodStore

/// A folder for the files of one test, which goes with it.
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

  /// Writes `text` to the file at `path` in the folder, and makes the folders on the way.
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

  /// The names of all files in it.
  package func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
  }

  /// The bytes of the files that lie in it themselves, by their names.
  package func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try names() {
      guard try POSIXFileSystem().status(atPath: path(name))?.isRegularFile == true else { continue }
      files[name] = try Data(contentsOf: url.appending(path: name))
    }
    return files
  }
}
