import Foundation
import HeartwoodModel
import HeartwoodStore
import Testing

@_spi(CoreDataFiles) @testable import HeartwoodFormats

/// Binary property lists that were not made to be read.
@Suite struct BinaryPropertyListTests {
  /// Puts a file together object by object.
  private struct File {
    var bytes = Array("bplist00".utf8)
    var offsets: [Int] = []

    @discardableResult
    mutating func add(_ object: [UInt8]) -> UInt8 {
      offsets.append(bytes.count)
      bytes += object
      return UInt8(offsets.count - 1)
    }

    @discardableResult
    mutating func add(_ text: String) -> UInt8 { add([0x50 + UInt8(text.utf8.count)] + Array(text.utf8)) }

    func finished(root: UInt8) -> [UInt8] {
      func number(_ value: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) } }
      let table = offsets.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
      return bytes + table + [0, 0, 0, 0, 0, 0, 2, 1] + number(offsets.count) + number(Int(root)) + number(bytes.count)
    }
  }

  private func list(_ bytes: [UInt8]) throws -> BinaryPropertyList {
    try BinaryPropertyList(bytes.withUnsafeBytes { ByteSlice(ByteRegion.copying($0)) })
  }

  @Test func anArrayThatHoldsItselfIsRefused() throws {
    var file = File()
    file.add([0xA1, 0])
    let list = try list(file.finished(root: 0))
    #expect(throws: PropertyListFault.self) { try list.value(0) }
  }

  @Test func arraysThatLeadToEachOtherManyTimesAreRefused() throws {
    var file = File()
    var last = file.add("x")
    for _ in 0..<30 { last = file.add([0xAA] + Array(repeating: last, count: 10)) }
    let list = try list(file.finished(root: last))
    #expect(throws: PropertyListFault.self) { try list.value(Int(last)) }
  }

  /// An array of 2,000 times the same object, which comes next, and a text of 65,536 bytes: together 128 MB.
  private func manyTimes(_ object: [UInt8]) -> [UInt8] {
    var file = File()
    let root = file.add([0xAF, 0x11, 0x07, 0xD0] + [UInt8](repeating: 1, count: 2_000))
    file.add(object)
    file.add([0x09])
    file.add([0x5F, 0x12, 0x00, 0x01, 0x00, 0x00] + [UInt8](repeating: UInt8(ascii: "x"), count: 65_536))
    return file.finished(root: root)
  }

  /// A text as the key of a dictionary, which has no value but a boolean.
  private static let dictionary: [UInt8] = [0xD1, 3, 2]

  @Test func keysThatStandInManyPlacesAreRefused() throws {
    let list = try list(manyTimes(Self.dictionary))
    let fault = #expect(throws: PropertyListFault.self) { try list.value(list.root) }
    #expect(fault.map { "\($0.reason)".contains("far more memory") } == true)
  }

  @Test(arguments: [dictionary, [0xA1, 3]]) func archivesOfTextsThatStandInManyPlacesAreRefused(_ object: [UInt8]) {
    let bytes = manyTimes(object)
    let error = #expect(throws: ArchiveError.self) { try ArchiveReader.value(of: bytes) }
    #expect(error?.message.contains("far more memory") == true)
  }

  /// Of all values, booleans take the fewest bytes of a file.
  @Test func asManyValuesAsAreWrittenAreRead() throws {
    let count = 1_700_000
    let list = try list(PropertyListData.binary(.array(Array(repeating: true, count: count))))
    guard case .array(let values) = try list.value(list.root) else {
      throw PropertyListFault(offset: 0, reason: "no array")
    }
    #expect(values.count == count)
  }

  /// The error of reading a file with the records that `add` puts into it.
  private func refusal(_ add: (_ file: inout File, _ id: UInt8, _ one: UInt8) -> [UInt8]) throws -> PersistenceError? {
    var file = File()
    let (id, name) = (file.add("$id"), file.add("Thing"))
    let one = file.add([0x10, 1])
    let all = add(&file, id, one)
    let records = file.add([0xD1, name, file.add([0xA0 + UInt8(all.count)] + all)])
    let keys = [file.add("version"), file.add("metadata"), file.add("records")]
    let root = file.add([0xD3] + keys + [one, file.add([0xD1, file.add("identifier"), id]), records])
    let model = try ManagedObjectModel(entities: [
      .entity("Thing", .attribute("name", .string, optional: true), .toMany("others", "Thing", inverse: nil)),
      .entity("Base", abstract: true, .toOne("parent", "Base", inverse: nil)),
      .entity("Heir", parent: "Base"),
    ])
    let store = StoreFile(PropertyListStore.self, model)
    try store.write(file.finished(root: root))
    let reader = try BinaryPropertyListReader(store.input, schema: PropertyListSchema(model, entities: model.entities))
    return #expect(throws: PersistenceError.self) { try reader.tables() }
  }

  @Test func aRecordThatStandsTwiceIsRefused() throws {
    let error = try refusal { file, id, one in
      let record = file.add([0xD1, id, one])
      return [record, record]
    }
    #expect(error?.message.contains("twice") == true)
  }

  /// Otherwise a large dictionary could be looked through for each of the relationships that lead to it.
  @Test func aTargetWithFurtherKeysIsRefused() throws {
    let error = try refusal { file, id, one in
      let (entity, thing, others) = (file.add("$entity"), file.add("Thing"), file.add("others"))
      let target = file.add([0xD3, file.add("x"), entity, id, one, thing, one])
      return [file.add([0xD2, id, others, one, file.add([0xA1, target])])]
    }
    #expect(error?.message.contains("a dictionary with an entity and a reference") == true)
  }

  @Test(arguments: ["Heir", "Base", "None"]) func aTargetOfAnotherEntityIsRefused(_ name: String) throws {
    let error = try refusal { file, id, one in
      let (entity, other, others) = (file.add("$entity"), file.add(name), file.add("others"))
      let target = file.add([0xD2, entity, id, other, one])
      return [file.add([0xD2, id, others, one, file.add([0xA1, target])])]
    }
    #expect(error?.message.contains("a dictionary with an entity and a reference") == true)
    #expect(error?.context.property == "others" && error?.context.byteOffset != nil)
  }

  /// Each place of an array, and each record, has a copy of the text of a reference.
  @Test func referencesThatStandInManyPlacesAreRefused() throws {
    let error = try refusal { file, id, one in
      let others = file.add("others")
      let text = UInt8(file.offsets.count + 1)
      let targets = file.add([0xAF, 0x11, 0x17, 0x70] + [UInt8](repeating: text, count: 6_000))
      file.add([0x5F, 0x12, 0x00, 0x00, 0xC0, 0x00] + [UInt8](repeating: UInt8(ascii: "x"), count: 49_152))
      return [file.add([0xD2, id, others, one, targets])]
    }
    #expect(error?.message.contains("far more memory") == true)
  }

  @Test func valuesOfAllWidthsAreRead() throws {
    let values: [Any] = [
      0, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, -1, Int64.min, Int64.max, 0.5, Float(0.25), true,
      false, "", "é",
      String(repeating: "x", count: 300), Data(repeating: 7, count: 70_000),
      Date(timeIntervalSinceReferenceDate: -0.125),
      [Any](), ["a": ["b": [1, 2, 3]]], Array(repeating: "y", count: 20),
    ]
    let data = try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
    let list = try list([UInt8](data))
    guard case .array(let read) = try list.value(list.root) else {
      throw PropertyListFault(offset: 0, reason: "no array")
    }
    #expect(read.count == values.count)
    #expect(
      read.prefix(10) == [
        0, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, -1, .integer(.min), .integer(.max),
      ]
    )
    #expect(read[10...15] == [0.5, 0.25, true, false, "", "é"])
    #expect(read[16] == .string(String(repeating: "x", count: 300)))
    #expect(read[17] == .binary(Data(repeating: 7, count: 70_000)))
    #expect(read[18] == .date(Date(timeIntervalSinceReferenceDate: -0.125)))
    #expect(read[19] == .array([]))
    #expect(read[20] == .dictionary(["a": .dictionary(["b": .array([1, 2, 3])])]))
  }

  @Test func recordsThatTakeFarMoreMemoryThanTheFileAreRefused() throws {
    let allowance = RecordAllowance(100)
    #expect(allowance.take(60))
    #expect(allowance.take(40))
    #expect(!allowance.take(1))
  }

  @Test(arguments: [[], Array("bplist00".utf8), Array("bplist00".utf8) + [UInt8](repeating: 0xFF, count: 40)])
  func trailersThatDoNotFitAreRefused(_ bytes: [UInt8]) {
    #expect(throws: PropertyListFault.self) { try list(bytes) }
  }
}
