import HeartwoodStore
import Testing

@Suite struct StoreInputTests {
  @Test(arguments: TestDisk.Kind.allCases)
  func partsOfAFileEndWhereItEnds(_ kind: TestDisk.Kind) throws {
    let disk = try TestDisk(kind)
    try disk.write([0, 1, 2, 3, 4], to: "file")
    let input = try disk.loaded("file")
    #expect(input.size == 5)
    #expect(try input.bytes() == [0, 1, 2, 3, 4])
    #expect(try input.bytes(from: 1, count: 2) == [1, 2])
    #expect(try input.bytes(from: 3, count: .max) == [3, 4])
    for offset in [5, 6, -1, .max, .min] { #expect(try input.bytes(from: offset, count: 3) == []) }
    #expect(try input.bytes(from: 0, count: -1) == [])
  }

  @Test(arguments: TestDisk.Kind.allCases)
  func textThatIsNotUTF8IsRefusedWithItsOffset(_ kind: TestDisk.Kind) throws {
    let disk = try TestDisk(kind)
    try disk.write(Array("gr\u{FC}n".utf8), to: "file")
    #expect(try disk.loaded("file").text() == "gr\u{FC}n")
    try disk.write(Array("12".utf8) + [0xC3, 0x28], to: "file")
    let error = #expect(throws: PersistenceError.self) { try disk.loaded("file").text() }
    #expect(error?.code == .fileMalformed)
    #expect(error?.context.byteOffset == 2)
    #expect(error?.context.path == disk.path("file"))
  }
}
