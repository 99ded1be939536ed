import Foundation
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodFormats

/// A file of four kilobytes, small enough to be damaged in every way.
enum TinySample {
  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      .entity(
        "Thing",
        .attribute("name", .string),
        .attribute("done", .boolean),
        .attribute("price", .decimal),
        .attribute("link", .uri),
        .toOne("next", "Thing", inverse: nil),
        .toMany("others", "Thing", inverse: nil)
      ),
      .entity("Other"),
    ])
  }

  static func store() throws -> SampleStore { try SampleStore(model()) }

  static func file() throws -> [UInt8] {
    let store = try store()
    let thing = store.model.entities[0]
    let references = (0..<3).map { ReferenceID.uuid(UUID(sample: $0)) }
    let contents = try store.contents(UUID(sample: 0xF0)) { loader in
      let ids = references.map { loader.objectID($0, of: thing) }
      for (number, reference) in references.enumerated() {
        try loader.addNode(reference, to: thing) { node in
          try node.setValue(.string(["Äpfel", "b", ""][number]), forKey: "name")
          try node.setValue(.boolean(number == 1), forKey: "done")
          try node.setValue(.decimal(Decimal(number)), forKey: "price")
          try node.setValue(try #require(URL(string: "x:\(number)").map(PropertyValue.uri)), forKey: "link")
          if number > 0 { try node.setValue(.toOne(ids[number - 1]), forKey: "next") }
          try node.setValue(.toMany(Array(ids.prefix(number))), forKey: "others")
        }
      }
    }
    return try store.write(contents)
  }

  /// The places of the sections, in the order in which the specification has them.
  enum Section {
    static let metadata = 0, model = 1, references = 2, nameOffsets = 3, names = 4, done = 5, prices = 6
    static let linkOffsets = 7, links = 8, nextValidity = 9, next = 10, otherOffsets = 11, others = 12
  }
}

/// Takes a file apart and puts it together again with checksums that hold, so that it can be wrong in any other way.
struct BinaryFileEditor {
  var header: [UInt8]
  var sections: [[UInt8]]
  var tables: [BinaryDirectory.Table]
  var history: BinaryDirectory.History?
  /// Changes the directory's sections before it is written.
  var editSections: (inout [BinarySection]) -> Void = { _ in }
  /// Changes the bytes of the directory before its checksum is made.
  var editDirectory: (inout [UInt8]) -> Void = { _ in }

  init(_ bytes: [UInt8]) throws {
    let file = try BinaryFile(SampleStore.input(bytes))
    header = Array(bytes[..<BinaryFormat.headerLength])
    sections = file.directory.sections.indices.map { Array(file.bytes(ofSection: $0).unsafeBytes) }
    tables = file.directory.tables
    history = file.directory.history
  }

  /// Gives the copies of the metadata other bytes, and checksums that hold.
  mutating func editMetadata(_ edit: (_ copy: Int, inout [UInt8]) -> Void) {
    let capacity = (sections[0].count - 64) / 2
    for copy in 0..<2 {
      let range = (64 + copy * capacity)..<(64 + (copy + 1) * capacity)
      var bytes = Array(sections[0][range].dropFirst(8))
      edit(copy, &bytes)
      sections[0].replaceSubrange(range, with: Self.littleEndian(Self.hash(bytes)) + bytes)
    }
  }

  func assembled() -> [UInt8] {
    var bytes = header
    bytes.replaceSubrange(56..<64, with: Self.littleEndian(Self.hash(Array(header[..<56]))))
    var entries: [BinarySection] = []
    for section in sections { entries.append(Self.append(section, to: &bytes)) }
    if header[12] >= 3 {
      entries[0] = BinarySection(offset: entries[0].offset, length: entries[0].length, checksum: 0)
    }
    editSections(&entries)
    var directory = Array(BinaryDirectory(sections: entries, tables: tables, history: history).encoded.data)
    editDirectory(&directory)
    let trailer = BinaryTrailer(directory: Self.append(directory, to: &bytes))
    return bytes + Array(trailer.encoded.data)
  }

  private static func append(_ section: [UInt8], to bytes: inout [UInt8]) -> BinarySection {
    let entry = BinarySection(offset: bytes.count, length: section.count, checksum: hash(section))
    bytes += section + [UInt8](repeating: 0, count: BinaryFormat.paddingLength(section.count))
    return entry
  }

  private static func hash(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { XXH64.hash($0) } }

  static func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
  }
}

extension [UInt8] {
  /// Writes a number at a place.
  mutating func set<Number: FixedWidthInteger>(_ number: Number, at place: Int) {
    replaceSubrange(place..<(place + MemoryLayout<Number>.size), with: BinaryFileEditor.littleEndian(number))
  }
}
