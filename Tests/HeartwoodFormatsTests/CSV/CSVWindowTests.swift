import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodFormats

/// How much of a file is read at once.
@Suite struct CSVWindowTests {
  /// Places in a part are kept in 31 bits: of what would need more, others would be read.
  @Test func aPartThatIsTooLargeForItsPlacesIsAnError() throws {
    let scratch = try ScratchFolder()
    let path = scratch.path("large.csv")
    try scratch.write("1, 2\n", to: "large.csv")
    let file = try FileHandle(forWritingTo: scratch.url.appending(path: "large.csv"))
    try file.truncate(atOffset: 3 << 30)
    try file.close()
    let window = CSVWindow(file: try StoreInput(try POSIXFileSystem().openFile(atPath: path)))
    let error = #expect(throws: PersistenceError.self) { try window.load(from: 7, size: (1 << 31) - 1) }
    #expect(error?.code == .capabilityMissing)
    #expect(error?.context.path == path && error?.context.byteOffset == 7)
    try window.load(from: 7, size: 1 << 12)
    #expect(window.count == 1 << 12)
  }

  @Test func anyNumberOfBytesMayBeReadAtOnce() throws {
    let fixture = try CSVFixture(CSVModels.one(.string), chunkSize: .max)
    #expect(try fixture.open("a, 1", "b, 2").values("value") == [.string("a"), .string("b")])
  }
}
