import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodFormats

/// Files whose checksums hold and that are wrong all the same.
@Suite struct DeceptionTests {
  struct Deception: Sendable, CustomTestStringConvertible {
    let reason: String
    let edit: @Sendable (inout BinaryFileEditor) -> Void

    init(_ reason: String, _ edit: @escaping @Sendable (inout BinaryFileEditor) -> Void) {
      self.reason = reason
      self.edit = edit
    }

    var testDescription: String { reason }
  }

  private typealias Section = TinySample.Section

  static let values: [Deception] = [
    Deception("offsets descend") { $0.sections[Section.nameOffsets].set(UInt32(9), at: 4) },
    Deception("offsets descend") { $0.sections[Section.otherOffsets].set(UInt32(4), at: 4) },
    Deception("first offset is not 0") { $0.sections[Section.nameOffsets].set(UInt32(1), at: 0) },
    Deception("last offset is not the end") { $0.sections[Section.nameOffsets].set(UInt32.max, at: 12) },
    Deception("last offset is not the end") { $0.sections[Section.otherOffsets].set(UInt32(2), at: 12) },
    Deception("not UTF-8") { $0.sections[Section.names][0] = 0xFF },
    Deception("inside of a character") { $0.sections[Section.nameOffsets].set(UInt32(1), at: 4) },
    Deception("not a URI") { $0.sections[Section.linkOffsets].set(UInt32(0), at: 4) },
    Deception("bits after the last row") { $0.sections[Section.done][0] |= 8 },
    Deception("bits after the last row") { $0.sections[Section.nextValidity][0] |= 128 },
    Deception("not a decimal") { $0.sections[Section.prices].set(Int16(128), at: 20 + 16) },
    Deception("not a decimal") { $0.sections[Section.prices][20 + 18] = 2 },
    Deception("not a decimal") { $0.sections[Section.prices][20 + 19] = 1 },
    Deception("not a decimal") { $0.sections[Section.prices][18] = 1 },
    Deception("not a destination of") { $0.tables[0].groups[0].columns[4].entityIndex = 1 },
    Deception("not a destination of") { $0.tables[0].groups[0].columns[5].entityIndex = 1 },
    Deception("not a destination of") { editor in
      editor.tables[0].groups[0].columns[5].hasEntityIndices = true
      editor.sections.insert([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], at: Section.others)
    },
    Deception("unknown kind") { $0.mixOthers(firstKind: 3) },
    Deception("unknown kind") { $0.mixOthers(firstKind: 0) },
    Deception("version is out of range") { $0.insertVersions([1, 0, 1]) },
    Deception("version is out of range") { $0.insertVersions([1, 1, .max]) },
  ]

  static let structure: [Deception] = [
    Deception("metadata cannot be understood") { $0.editMetadata { _, copy in copy.set(UInt64(2), at: 0) } },
    Deception("checksum of the metadata") { $0.editMetadata { _, copy in copy.set(UInt64.max, at: 0) } },
    Deception("checksum of the metadata") { $0.editMetadata { number, copy in copy[100] ^= UInt8(number) } },
    Deception("place of the metadata") { $0.sections[Section.metadata] = Array("{}".utf8) },
    Deception("place of the metadata") { $0.sections[Section.metadata] = [] },
    Deception("place of the metadata") { $0.sections[Section.metadata].removeLast(64) },
    Deception("place of the metadata") { $0.sections[Section.metadata][0] = 1 },
    Deception("place of the metadata") { $0.sections[Section.metadata][63] = 1 },
    Deception("directory has a checksum of the metadata") { editor in
      editor.editSections = { $0[0] = BinarySection(offset: $0[0].offset, length: $0[0].length, checksum: 1) }
    },
    Deception("flags") { $0.header.set(UInt32(2), at: 32) },
    Deception("different stores") { $0.header[16] ^= 1 },
    Deception("version numbers contradict") { $0.header.set(UInt32(0), at: 12) },
    Deception("cannot be 4294967295 sections") { $0.editDirectory = { $0.set(UInt32.max, at: 0) } },
    Deception("cannot be 1 sections") { $0.editDirectory = { $0.set(UInt32(1), at: 0) } },
    Deception("ends too early") { $0.editDirectory = { $0.set(UInt32.max, at: 4) } },
    Deception("ends too early") { $0.editDirectory = { $0.removeLast() } },
    Deception("goes on too long") { $0.editDirectory = { $0.append(0) } },
    Deception("goes on too long") { $0.editDirectory = { $0.set(UInt32(1), at: 4) } },
    Deception("does not begin where") { $0.editSections = { $0[3] = $0[2] } },
    Deception("does not begin where") { $0.editSections = { $0.remove(at: 3) } },
    Deception("does not begin where") { editor in
      editor.editSections = { $0[3] = BinarySection(offset: $0[3].offset, length: .max, checksum: 0) }
    },
    Deception("greater than any file") { editor in
      editor.editDirectory = { $0.set(UInt64.max, at: 8 + 3 * BinarySection.encodedLength) }
    },
    Deception("bytes belong to no section") { $0.editSections = { $0.removeLast() } },
    Deception("sections belong to no table") { $0.sections.append([1]) },
    Deception("fewer sections than groups need") { $0.sections.removeLast() },
    Deception("column is described incorrectly") { $0.tables[0].groups[0].rowCount = 4 },
    Deception("not as long as its rows need") { editor in
      editor.tables[0].groups[0].rowCount = 4
      editor.tables[0].groups[0].columns[4].referenceCount = 4
    },
    Deception("not as long as its rows need") { $0.sections[Section.prices].removeLast() },
    Deception("not as long as its rows need") { $0.tables[0].groups[0].columns[0].hasValidity = true },
    Deception("group of rows is described incorrectly") { $0.tables[0].groups[0].rowCount = 0 },
    Deception("group of rows is described incorrectly") { $0.tables[0].groups[0].rowCount = 65_537 },
    Deception("group of rows is described incorrectly") { $0.editGroup { $0.set(UInt8(2), at: 4) } },
    Deception("group of rows is described incorrectly") { $0.editGroup { $0.set(UInt8(4), at: 5) } },
    Deception("group of rows is described incorrectly") { $0.editGroup { $0.set(UInt16(1), at: 6) } },
    Deception("column is described incorrectly") { $0.editGroup { $0.set(UInt8(4), at: 8) } },
    Deception("column is described incorrectly") { $0.editGroup { $0.set(UInt8(1), at: 9) } },
    Deception("column is described incorrectly") { $0.tables[0].groups[0].columns[4].entityIndex = 2 },
    Deception("column is described incorrectly") { $0.tables[0].groups[0].columns[4].referenceCount = 2 },
    Deception("column is described incorrectly") { $0.tables[0].groups[0].columns[0].hasEntityIndices = true },
    Deception("column is described incorrectly") { $0.tables[0].groups[0].columns[5].hasValidity = true },
    Deception("not as long as its rows need") { $0.tables[0].groups[0].columns[5].referenceCount = Int(UInt32.max) },
    Deception("unknown type") { $0.editDirectory = { $0.replace([7, 4, 0, 0, 0], with: [13, 4, 0, 0, 0]) } },
    Deception("name is not text") {
      $0.editDirectory = { $0.replace(Array("name".utf8), with: [0xC3, 0x28, 65, 65]) }
    },
    Deception("two tables have the same entity") { $0.tables[1].entityName = "Thing" },
    Deception("two columns have the same name") { $0.tables[0].columns[1].name = "name" },
    Deception("have not 4 rows in all") { editor in
      editor.editDirectory = { $0.replace([3, 0, 0, 0, 0, 0, 0, 0, 6], with: [4, 0, 0, 0, 0, 0, 0, 0, 6]) }
    },
    Deception("too many groups") { editor in
      editor.editDirectory = { $0.replace([6, 0, 0, 0, 1, 0, 0, 0], with: [6, 0, 0, 0, 1, 0, 1, 0]) }
    },
  ]

  @Test(arguments: values + structure)
  func isRefused(deception: Deception) throws {
    let bytes = try TinySample.file()
    var editor = try BinaryFileEditor(bytes)
    #expect(editor.assembled() == bytes, "what is not edited stays the same")
    deception.edit(&editor)
    let error = try #require(DamageTests.refusal(of: editor.assembled(), by: try TinySample.store()))
    #expect(error.code == .fileCorrupt)
    #expect(error.context.byteOffset != nil)
    #expect(error.message.contains(deception.reason), "\(error.message)")
  }

  @Test func aModelThatIsNone() throws {
    var editor = try BinaryFileEditor(TinySample.file())
    editor.sections[Section.model] = Array("{}".utf8)
    let input = try SampleStore.input(editor.assembled())
    #expect { try BinaryStore.readModel(from: input, options: StoreOptions()) } throws: { error in
      (error as? PersistenceError)?.code == .fileCorrupt && (error as? PersistenceError)?.context.byteOffset != nil
    }
  }
}

extension BinaryFileEditor {
  /// Gives the records versions.
  fileprivate mutating func insertVersions(_ versions: [UInt64]) {
    tables[0].groups[0].hasVersions = true
    sections.insert(versions.flatMap { Self.littleEndian($0) }, at: TinySample.Section.references + 1)
  }

  /// Makes the references of the last column mixed ones of 17 bytes: UUIDs, if it were not for the first.
  fileprivate mutating func mixOthers(firstKind: UInt8) {
    let place = TinySample.Section.others
    let uuids = stride(from: 0, to: sections[place].count, by: 16).map { sections[place][$0..<($0 + 16)] }
    tables[0].groups[0].columns[5].referenceLayout = .mixed
    sections[place] = uuids.flatMap { [1] + $0 }
    sections[place][0] = firstKind
    sections.insert((0...uuids.count).flatMap { Self.littleEndian(UInt32($0 * 17)) }, at: place)
  }

  /// Changes the bytes of the first group's entry in the directory.
  fileprivate mutating func editGroup(_ edit: @escaping @Sendable (inout [UInt8]) -> Void) {
    editDirectory = { bytes in
      // The group is followed by the table of the other entity, which has no columns and no groups.
      let last = 4 + "Other".utf8.count + 8 + 4 + 4
      let start = bytes.count - last - (8 + 6 * 12)
      var group = Array(bytes[start..<(bytes.count - last)])
      edit(&group)
      bytes.replaceSubrange(start..<(bytes.count - last), with: group)
    }
  }
}

extension [UInt8] {
  /// Replaces the first occurrence of some bytes by as many others.
  fileprivate mutating func replace(_ old: [UInt8], with new: [UInt8]) {
    let place = indices.first { self[$0...].starts(with: old) }
    if let place { replaceSubrange(place..<(place + old.count), with: new) }
  }
}
