import Foundation
import HeartwoodTesting
import Testing

@testable import HeartwoodStore

/// Descriptors of files on which somebody has locks.
@Suite struct HeldFilesTests {
  private let scratch: ScratchFolder
  private let path: String

  init() throws {
    scratch = try ScratchFolder()
    path = scratch.url.appending(path: "held").path
    try Data("held".utf8).write(to: URL(filePath: path))
  }

  private func open() throws -> POSIXReadableFile {
    try #require(try POSIXFileSystem().openFile(atPath: path) as? POSIXReadableFile)
  }

  /// The descriptor of the file, opened and let go of.
  private func openAndClose() throws -> Int32 { try open().descriptor }

  private func isOpen(_ descriptor: Int32) -> Bool {
    HeldFiles.File(descriptor) == HeldFiles.File(atPath: path)
  }

  @Test func aHeldFileIsClosedWhenNobodyHoldsItAnyMore() throws {
    var first = FileHold(atPath: path)
    var second = FileHold(atPath: path)
    let descriptor = try openAndClose()
    #expect(isOpen(descriptor))
    first = nil
    #expect(isOpen(descriptor))
    second = nil
    #expect(!isOpen(descriptor))
    _ = (first, second)
  }

  @Test func whoOpensAHeldFileUsesItsDescriptorAgain() throws {
    let hold = FileHold(atPath: path)
    try withExtendedLifetime(hold) {
      let descriptor = try openAndClose()
      #expect(try openAndClose() == descriptor)
      let lock = try #require(try POSIXFileSystem().lockFile(atPath: path))
      let file = try open()
      #expect(file.descriptor != descriptor, "it is in use by the lock")
      #expect(try StoreInput(file).bytes() == Array("held".utf8))
      lock.release()
      #expect(try openAndClose() == descriptor)
      // What was let go of can be locked anew.
      try #require(try POSIXFileSystem().lockFile(atPath: path)).release()
    }
  }

  @Test func otherFilesAreClosedAtOnce() throws {
    let other = scratch.url.appending(path: "other").path
    try Data().write(to: URL(filePath: other))
    let hold = FileHold(atPath: other)
    try withExtendedLifetime(hold) {
      let descriptor = try openAndClose()
      #expect(!isOpen(descriptor))
    }
    #expect(FileHold(atPath: other + " that is not there") == nil)
  }
}
