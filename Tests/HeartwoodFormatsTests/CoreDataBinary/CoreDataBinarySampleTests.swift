import Foundation
import HeartwoodModel
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodFormats

/// The file in `Formats/CoreDataBinary/samples`.
@Suite struct CoreDataBinarySampleTests {
  private static let folder = FormatFolder("CoreDataBinary")
  private static let golden = GoldenFile(
    storeClass: CoreDataBinaryStore.self,
    folder: folder,
    name: "version-1.coredata"
  )

  @Test func everySampleIsInTheSpecification() throws {
    let specification = try Self.folder.specification
    for name in try Self.folder.names("samples") { #expect(specification.contains("| `\(name)` |"), "\(name)") }
  }

  @Test func theGoldenFileHoldsWhatItShould() throws {
    try Self.golden.checkContents()
  }

  @Test(.enabled(if: PythonReader.exists, "there is no python3 to run the independent reader"))
  func theIndependentReaderReadsIt() throws {
    try Self.golden.checkIndependentReader()
  }
}
