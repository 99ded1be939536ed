import Foundation
import HeartwoodTesting
import Testing

@Suite struct ConformanceFoldersTests {
  /// The system's folder for what is temporary may lie behind a link, as it does on macOS.
  @Test func aFolderBehindALinkIsWhereItReallyIs() throws {
    let folders = ConformanceFolders()
    defer { folders.remove() }
    let folder = try folders.make()
    let link = URL(filePath: folder).appending(path: "link")
    try FileManager.default.createSymbolicLink(
      at: link,
      withDestinationURL: URL(filePath: folder).appending(path: "real")
    )
    try FileManager.default.createDirectory(atPath: folder + "/real", withIntermediateDirectories: false)
    let path = try folders.make(in: link)
    #expect(path.hasPrefix(folder + "/real/"))
    #expect(FileManager.default.fileExists(atPath: path))
  }
}
