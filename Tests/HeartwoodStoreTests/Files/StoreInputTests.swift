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

  @Test(arguments: TestDisk.Kind.allCases)
  func linesComeWithoutTheirEnds(_ kind: TestDisk.Kind) throws {
    let disk = try TestDisk(kind)
    let long = String(repeating: "gr\u{FC}n ", count: 20_000)
    try disk.write(Array("first\r\n\n\(long)\nlast".utf8), to: "file")
    let input = try disk.loaded("file")
    func lines(after skipped: Int) throws -> [String] {
      var lines: [String] = []
      try input.forEachLine(after: skipped) { lines.append(String($0)) }
      return lines
    }
    #expect(try lines(after: 0) == ["first", "", long, "last"])
    #expect(try lines(after: 3) == ["last"])
    #expect(try lines(after: 9) == [])
    #expect(try input.withFirstLine { String($0) } == "first")
    try disk.write(Array("\(long)\n2".utf8), to: "file")
    #expect(try disk.loaded("file").withFirstLine { String($0) } == long)
    try disk.write([], to: "file")
    #expect(try disk.loaded("file").withFirstLine { String($0) } == "")
  }

  private struct Fault: Error {}

  @Test(arguments: TestDisk.Kind.allCases)
  func errorsOfLinesSayWhichLine(_ kind: TestDisk.Kind) throws {
    let disk = try TestDisk(kind)
    try disk.write(Array("one\ntwo\nthree\n".utf8), to: "file")
    let input = try disk.loaded("file")
    let error = #expect(throws: PersistenceError.self) {
      try input.forEachLine { if $0 == "two" { throw Fault() } }
    }
    #expect(error?.code == .fileMalformed)
    #expect(error?.context.line == 2)
    #expect(error?.context.path == disk.path("file"))
    #expect(error?.underlyingError is Fault)
    let own = #expect(throws: PersistenceError.self) {
      try input.withFirstLine { _ in throw PersistenceError(.entityUnknown, "No such entity.") }
    }
    #expect(own?.code == .entityUnknown)
    #expect(own?.context.line == 1)
  }
}
