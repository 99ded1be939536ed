import Foundation
import HeartwoodFormats
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Random records, dialects, chunk sizes and damage.
@Suite struct CSVRandomTests {
  private static let types: [AttributeType] = [.boolean, .string, .integer16, .date, .double, .uuid, .binary]

  private static var entity: EntityDefinition {
    EntityDefinition(
      name: "Random",
      properties: types.enumerated().map { .attribute("p\($0.offset)", $0.element, optional: true) }
    )
  }

  /// Every record comes back, in any dialect, however the file is cut.
  @Test(arguments: 0..<60)
  func recordsComeBack(_ round: Int) throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SeededGenerator(seed: seed)
    let layout = CSVStore.Layout.random(&generator)
    let fixture = try CSVFixture(
      CSVModels.everything,
      layout: layout,
      chunkSize: Int.random(in: 1...300, using: &generator)
    )
    let source = try fixture.randomContents(Int.random(in: 0...60, using: &generator), &generator)
    let engine = try AtomicStoreEngine.create(
      AtomicClassFormat(CSVStore.self),
      contents: source,
      setup: fixture.setup,
      fileSystem: fixture.files,
      replacing: false
    )
    let expected = try engine.records
    #expect(try fixture.open().records == expected, "seed \(seed)")
    let before = try fixture.bytes
    _ = try fixture.open().save(ChangeSet())
    #expect(try fixture.bytes == before, "seed \(seed)")
  }

  /// Saves that follow each other leave what a file that is loaded anew shows.
  @Test(arguments: 0..<30)
  func changesComeBack(_ round: Int) throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SeededGenerator(seed: seed)
    let layout = CSVStore.Layout.random(&generator)
    let fixture = try CSVFixture(
      CSVModels.everything,
      layout: layout,
      chunkSize: Int.random(in: 1...300, using: &generator)
    )
    let engine = try AtomicStoreEngine.create(
      AtomicClassFormat(CSVStore.self),
      contents: try fixture.randomContents(Int.random(in: 0...20, using: &generator), &generator),
      setup: fixture.setup,
      fileSystem: fixture.files,
      replacing: false
    )
    for _ in 0..<8 {
      let count = try engine.records.count
      switch generator.next() % 3 {
      case 0 where count > 0: try engine.delete(Int.random(in: 0..<count, using: &generator))
      case 1 where count > 0:
        let value = PropertyValue.string(.hostile(&generator))
        try engine.update(Int.random(in: 0..<count, using: &generator), "text", value)
      default:
        let values = try fixture.randomValues([], &generator)
        try engine.insert(.uuid(generator.nextUUID()), values)
      }
      #expect(try fixture.open().records == engine.records, "seed \(seed)")
    }
  }

  /// The fast reader and the plain one take the same files and read the same from them.
  @Test(arguments: 0..<40)
  func sameAsThePlainReader(_ round: Int) throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SeededGenerator(seed: seed)
    var dialect = CSVStore.Dialect()
    dialect.separator = [UInt8(ascii: ","), UInt8(ascii: ";")].randomElement(using: &generator)
    dialect.hasSpaceAfterSeparator = generator.chance(oneIn: 2)
    dialect.hasHeader = false
    let naive = NaiveCSV(
      columns: Self.types,
      separator: Unicode.Scalar(dialect.separator ?? 0),
      dropsSpace: dialect.hasSpaceAfterSeparator ?? false
    )
    let valid = try validFile(dialect, &generator)
    var accepted = 0
    for _ in 0..<50 {
      let bytes = generator.chance(oneIn: 10) ? valid : valid.damaged(&generator)
      let chunkSize = generator.chance(oneIn: 3) ? nil : Int.random(in: 1...200, using: &generator)
      let fixture = try CSVFixture(Self.entity, layout: CSVStore.Layout(dialect: dialect), chunkSize: chunkSize)
      try fixture.write(bytes)
      let expected = try? naive.records(bytes)
      let found = try? fixture.open().records
      accepted += expected == nil ? 0 : 1
      #expect(
        found == expected || (bytes.isEmpty && found == []),
        "seed \(seed), chunks \(String(describing: chunkSize)): \(String(decoding: bytes, as: UTF8.self).debugDescription)"
      )
    }
    #expect(accepted > 0, "seed \(seed)")
  }

  private func validFile(_ dialect: CSVStore.Dialect, _ generator: inout SeededGenerator) throws
    -> [UInt8]
  {
    let fixture = try CSVFixture(Self.entity, layout: CSVStore.Layout(dialect: dialect))
    _ = try AtomicStoreEngine.create(
      AtomicClassFormat(CSVStore.self),
      contents: try fixture.randomContents(Int.random(in: 1...6, using: &generator), &generator),
      setup: fixture.setup,
      fileSystem: fixture.files,
      replacing: false
    )
    return try fixture.bytes
  }

  /// A file cut short anywhere is read or refused, and the records that it still has are those that it had.
  @Test func everyTruncation() throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SeededGenerator(seed: seed)
    let whole = try validFile(CSVStore.Dialect(), &generator)
    let fixture = try CSVFixture(Self.entity, chunkSize: 50)
    try fixture.write(whole)
    let records = try fixture.open().records
    for length in 1..<whole.count {
      try fixture.write(Array(whole[..<length]))
      guard let found = try? fixture.open().records else { continue }
      #expect(found.dropLast() == records.prefix(max(0, found.count - 1)), "seed \(seed), length \(length)")
    }
  }

  /// Quotes and line ends everywhere make the guesses of the parallel reader wrong as often as can be.
  @Test(arguments: Array(1...40) + [64, 100, 1000])
  func everyChunkSizeReadsTheSame(_ chunkSize: Int) throws {
    let memos = [
      "\n", "\"", "\n\"\n", "a\n1, b, 2", "\",\n\"", "\"\"\n\"\"", "é\né", "\r\n", String(repeating: "x\n", count: 60),
    ]
    let lines = memos.enumerated().map { index, memo in
      "1, \"\(memo.replacing("\"", with: "\"\""))\", \(index), , \(index)\n"
    }
    let text =
      CSVFixture.identifier + "\n" + lines.joined() + "1, plain, 1, , 100\n\n"
      + lines.joined().replacing(", , ", with: ", , 1000")
    let fixture = try CSVFixture(CSVModels.toDo, chunkSize: chunkSize)
    try fixture.write(text)
    let values = try fixture.open().values("memo")
    #expect(values == (memos + ["plain"] + memos).map(PropertyValue.string))
  }
}

// MARK: Random things

extension CSVStore.Layout {
  fileprivate static func random(_ generator: inout SeededGenerator) -> CSVStore.Layout {
    var dialect = CSVStore.Dialect()
    dialect.separator =
      [nil, UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: "|")].randomElement(using: &generator) ?? nil
    dialect.hasSpaceAfterSeparator = [nil, true, false].randomElement(using: &generator) ?? nil
    dialect.quoting = [nil, .minimal, .all].randomElement(using: &generator) ?? nil
    dialect.lineEnd = [nil, .lineFeed, .carriageReturnLineFeed].randomElement(using: &generator) ?? nil
    dialect.hasHeader = [nil, true, false].randomElement(using: &generator) ?? nil
    dialect.hasByteOrderMark = [nil, true, false].randomElement(using: &generator) ?? nil
    dialect.endsLastLine = [nil, true, false].randomElement(using: &generator) ?? nil
    return CSVStore.Layout(dialect: dialect, allowsBareStringReferences: generator.chance(oneIn: 2))
  }
}

extension String {
  /// A text of the characters that the form has a meaning for, and of any others.
  fileprivate static func hostile(_ generator: inout SeededGenerator) -> String {
    let pieces = [
      "\"", ",", ", ", ";", "\t", "|", "\n", "\r", "\r\n", " ", "#", "'", "%", "%20", "a", "1", "é", "👩‍👩‍👧", "\0",
      "\u{FEFF}",
      "\u{85}", "nil", "-", "+", "=", "\\",
    ]
    let count = Int.random(in: 0...6, using: &generator)
    return (0..<count).map { _ in
      generator.chance(oneIn: 5) ? generator.nextString() : pieces.randomElement(using: &generator) ?? ""
    }.joined()
  }
}

extension ReferenceID {
  fileprivate static func random(_ generator: inout SeededGenerator) -> ReferenceID {
    switch generator.next() % 3 {
    case 0: .uuid(generator.nextUUID())
    case 1: .integer(Int64(bitPattern: generator.next()) >> Int64.random(in: 0..<64, using: &generator))
    default: .string(.hostile(&generator))
    }
  }
}

extension CSVFixture {
  /// Records with odd values, whose relationships lead to each other.
  fileprivate func randomContents(_ count: Int, _ generator: inout SeededGenerator) throws
    -> StoreContents
  {
    let loader = StoreLoader(setup: setup, storeType: .inMemory)
    var references: [ReferenceID] = []
    for _ in 0..<count {
      let reference = ReferenceID.random(&generator)
      if !references.contains(reference) { references.append(reference) }
    }
    let entity = try entity
    for reference in references {
      let targets = references.map { loader.objectID($0, of: entity) }
      let values = try randomValues(targets, &generator)
      try loader.addNode(reference, to: entity) { node in
        for (ordinal, value) in values.enumerated() where !entity.properties[ordinal].isTransient {
          try node.setValue(value, at: ordinal)
        }
      }
    }
    return try loader.finish()
  }

  fileprivate func randomValues(
    _ targets: [ManagedObjectID],
    _ generator: inout SeededGenerator
  ) throws -> [PropertyValue] {
    try entity.properties.map { property in
      if property.relationship?.isToMany == true {
        return .toMany(targets.shuffled(using: &generator).prefix(Int.random(in: 0...4, using: &generator)).map { $0 })
      }
      if property.isTransient || generator.chance(oneIn: 5) { return .null }
      guard let type = property.attribute?.type else {
        return targets.randomElement(using: &generator).map(PropertyValue.toOne) ?? .null
      }
      switch type {
      case .string: return .string(.hostile(&generator))
      case .date: return .date(.randomInCalendar(&generator))
      default: return .random(of: type, using: &generator)
      }
    }
  }
}

extension Date {
  /// A date of the years 1 to 9999: with a fraction, of whole seconds, or as exact as can be.
  fileprivate static func randomInCalendar(_ generator: inout SeededGenerator) -> Date {
    let seconds = Double.random(in: -63_113_904_000..<252_423_993_600, using: &generator)
    switch generator.next() % 4 {
    case 0: return Date(timeIntervalSinceReferenceDate: seconds)
    case 1: return Date(timeIntervalSinceReferenceDate: seconds.rounded(.down))
    case 2: return Date(timeIntervalSinceReferenceDate: (seconds / 1e6 * 1000).rounded() / 1000)
    default: return Date(timeIntervalSinceReferenceDate: seconds * .ulpOfOne)
    }
  }
}

extension [UInt8] {
  /// The bytes with some of them changed, taken away, added or doubled.
  fileprivate func damaged(_ generator: inout SeededGenerator) -> [UInt8] {
    let alphabet = Array(",;\"\"\n\r #'019aZT:+-.é%\0".utf8) + [0xFF, 0xC3]
    var bytes = self
    for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &generator)
      switch generator.next() % 5 {
      case 0: bytes[place] = alphabet.randomElement(using: &generator) ?? 0
      case 1: bytes.remove(at: place)
      case 2: bytes.insert(alphabet.randomElement(using: &generator) ?? 0, at: place)
      case 3:
        let end = Swift.min(bytes.count, place + Int.random(in: 1...20, using: &generator))
        bytes.insert(contentsOf: Array(bytes[place..<end]), at: Int.random(in: 0..<bytes.count, using: &generator))
      default: bytes.removeLast(generator.chance(oneIn: 3) ? bytes.count - place : 0)
      }
    }
    return bytes
  }
}
