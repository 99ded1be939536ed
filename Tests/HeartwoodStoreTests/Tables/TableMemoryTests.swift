import Foundation
import HeartwoodModel
import HeartwoodTesting
import Testing

@testable import HeartwoodStore

/// What tables take, and what files that are read give back.
@Suite struct TableMemoryTests {
  @Test func aTableTakesItsNamesItsValuesAndWhatSaysWhichThereAre() throws {
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Thing",
        .attribute("number", .integer64, optional: true),
        .attribute("text", .string, optional: true),
        .attribute("flag", .boolean)
      )
    ])
    let entity = model.entities[0]
    let builder = RowGroupBuilder(entity: entity)
    for row in 0..<100 {
      let number: PropertyValue = row == 7 ? .null : .integer(Int64(row))
      builder.append(.uuid(UUID()), version: 1, values: [number, .string("12345"), .boolean(true)])
    }
    let table = NodeTable(entity: entity, groups: [builder.sealed()])
    let names = 100 * 16
    let numbers = 100 * 8 + BitSlice.byteCount(100)
    let texts = 100 * 5 + 101 * 4
    #expect(table.byteCount == names + numbers + texts + BitSlice.byteCount(100))
    #expect(NodeTable(entity: entity).byteCount == 0)
  }

  @Test func whatAFileGaveBackIsReadAgain() throws {
    let scratch = try ScratchFolder()
    let path = scratch.path("bytes")
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    try Data(bytes).write(to: URL(filePath: path))
    let mapped = try POSIXFileSystem().openFile(atPath: path).mapped().region
    let heap = bytes.withUnsafeBytes { ByteRegion.copying($0) }
    for region in [mapped, heap] {
      #expect(region.unsafeBytes.elementsEqual(bytes))
      region.releaseResidentPages()
      #expect(region.unsafeBytes.elementsEqual(bytes))
    }
  }
}
