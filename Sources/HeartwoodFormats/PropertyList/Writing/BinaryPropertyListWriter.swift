import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Writes a store as a property list in binary form.
///
/// First come the objects that all records share, then the records, block by block, made on all processors, then the
/// arrays of the records and the root. The objects for the records of a block are counted beforehand, so every block
/// knows its numbers.
struct BinaryPropertyListWriter {
  /// An estimate of the length of a record, beside its values, to reserve memory.
  private static let typicalRecordLength = 100
  /// The greatest number of objects around the metadata's values and the names.
  private static let frameObjectCount = 16

  /// Objects that have been written.
  private struct Written {
    let offset: Int
    let offsets: ByteSlice
  }

  /// The numbers of objects that come before the records.
  private struct Head {
    let shared: PropertyListSharedObjects
    /// The members of the root except the records.
    let top: [(key: Int, value: Int)]
    let recordsKey: Int
    let objectCount: Int
  }

  /// The records of an entity in a block: their numbers, counted from the first number of the block.
  private typealias RecordNumbers = (firstNumber: Int, records: ByteSlice)

  private struct Part {
    let entity: PropertyListSchema.Entity
    let run: RowRun
    let firstNumber: Int
    let count: Int
  }

  let schema: PropertyListSchema
  let contents: StoreContents

  func write(to output: StoreOutput) throws {
    let metadata = PropertyListMetadata.value(contents.metadata)
    let model = String(decoding: try contents.model.encoded(), as: UTF8.self)
    let runs = schema.entities.map { entity in
      RowRun.blocks(of: RowRun.all(of: contents.table(of: entity.description)), typicalLength: Self.typicalRecordLength)
    }
    let counts = objectCounts(runs)
    let recordObjects = counts.reduce(0) { $0 + $1.reduce(0, +) }
    let names = schema.entities.reduce(schema.model.entities.count) { $0 + $1.properties.count + 1 }
    let limit = recordObjects + PropertyListObjects.count(metadata) + names + Self.frameObjectCount
    let width = PropertyListObjectBuffer.referenceWidth(limit)
    try output.write(PropertyListFormat.binaryHeader)
    var written: [Written] = []
    let head = try writeHead(metadata, model, width, to: output, &written)
    let parts = parts(runs, counts, firstNumber: head.objectCount)
    let records = try writeRecords(parts, head.shared, width, to: output, &written)
    let tailNumber = head.objectCount + recordObjects
    let root = try writeTail(head, records, firstNumber: tailNumber, width, to: output, &written)
    try finish(written, root: root, width: width, to: output)
  }

  /// Writes the objects that all records share, and all parts of the root except the records.
  private func writeHead(
    _ metadata: MetadataValue,
    _ model: String,
    _ width: Int,
    to output: StoreOutput,
    _ written: inout [Written]
  ) throws(PersistenceError) -> Head {
    var buffer = PropertyListObjectBuffer(firstNumber: 0, referenceWidth: width, capacity: 1 << 16)
    let shared = sharedObjects(&buffer)
    let top: [(key: Int, value: Int)] = [
      (buffer.append(string: PropertyListFormat.versionKey), buffer.append(integer: PropertyListFormat.version)),
      (buffer.append(string: PropertyListFormat.metadataKey), PropertyListObjects.append(metadata, to: &buffer)),
      (buffer.append(string: PropertyListFormat.modelKey), buffer.append(string: model)),
    ]
    let recordsKey = buffer.append(string: PropertyListFormat.recordsKey)
    let head = Head(shared: shared, top: top, recordsKey: recordsKey, objectCount: buffer.count)
    written.append(try write(buffer.sealed(), to: output))
    return head
  }

  /// Writes the records of all parts, and returns those of each entity.
  private func writeRecords(
    _ parts: [Part],
    _ shared: PropertyListSharedObjects,
    _ width: Int,
    to output: StoreOutput,
    _ written: inout [Written]
  ) throws -> [[RecordNumbers]] {
    var records: [[RecordNumbers]] = schema.entities.map { _ in [] }
    var done = 0
    try Parallel.forEach(parts.count) { index in
      Self.block(parts[index], shared, width)
    } consume: { block in
      let part = parts[done]
      guard let block else { throw unsupported(part.entity) }
      written.append(try write(block, to: output))
      if let place = schema.place(ofEntity: part.entity.name) {
        records[place].append((part.firstNumber, block.records))
      }
      done += 1
    }
    return records
  }

  /// Writes the arrays of records and the root, and returns the root's number.
  private func writeTail(
    _ head: Head,
    _ records: [[RecordNumbers]],
    firstNumber: Int,
    _ width: Int,
    to output: StoreOutput,
    _ written: inout [Written]
  ) throws(PersistenceError) -> Int {
    var buffer = PropertyListObjectBuffer(firstNumber: firstNumber, referenceWidth: width, capacity: 1 << 16)
    var lists: [(key: Int, value: Int)] = []
    for (entity, blocks) in zip(schema.entities, records) {
      lists.append((head.shared.entityNames[entity.description.ordinal], buffer.append(recordsOf: blocks)))
    }
    let root = buffer.append(dictionary: head.top + [(head.recordsKey, buffer.append(dictionary: lists))])
    written.append(try write(buffer.sealed(), to: output))
    return root
  }

  // MARK: Parts

  /// Returns the number of objects for the rows of each run.
  private func objectCounts(_ runs: [[RowRun]]) -> [[Int]] {
    zip(schema.entities, runs).map { entity, runs in
      Parallel.map(runs.count) { index in
        BinaryPropertyListFormatter(group: runs[index].group, entity: entity, shared: PropertyListSharedObjects())
          .objectCount(runs[index].rows)
      }
    }
  }

  private func parts(_ runs: [[RowRun]], _ counts: [[Int]], firstNumber: Int) -> [Part] {
    var next = firstNumber
    var parts: [Part] = []
    for (entity, (runs, counts)) in zip(schema.entities, zip(runs, counts)) {
      for (run, count) in zip(runs, counts) {
        parts.append(Part(entity: entity, run: run, firstNumber: next, count: count))
        next += count
      }
    }
    return parts
  }

  /// Returns the objects for some rows, or nil if they cannot be written.
  private static func block(_ part: Part, _ shared: PropertyListSharedObjects, _ width: Int) -> PropertyListObjectBuffer
    .Block?
  {
    var buffer = PropertyListObjectBuffer(
      firstNumber: part.firstNumber,
      referenceWidth: width,
      capacity: part.run.rows.count * typicalRecordLength
    )
    BinaryPropertyListFormatter(group: part.run.group, entity: part.entity, shared: shared).append(
      part.run.rows,
      to: &buffer
    )
    guard !buffer.isTooLong, buffer.count == part.count else { return nil }
    return buffer.sealed()
  }

  private func unsupported(_ entity: PropertyListSchema.Entity) -> PersistenceError {
    PersistenceError(
      .valueUnsupported,
      "The values of a record take more than 4 GiB, which a property list cannot hold. Nothing was written.",
      recovery: .chooseAnotherType,
      context: .init(storeType: .propertyList, entity: entity.name)
    )
  }

  private func sharedObjects(_ head: inout PropertyListObjectBuffer) -> PropertyListSharedObjects {
    var shared = PropertyListSharedObjects()
    shared.falseNumber = head.append(boolean: false)
    shared.trueNumber = head.append(boolean: true)
    shared.referenceKey = head.append(string: PropertyListFormat.referenceKey)
    shared.entityKey = head.append(string: PropertyListFormat.entityKey)
    for entity in schema.model.entities { shared.entityNames.append(head.append(string: entity.name)) }
    for property in schema.entities.flatMap(\.properties) where shared.properties[property.name] == nil {
      shared.properties[property.name] = head.append(string: property.name)
    }
    return shared
  }

  // MARK: Bytes

  private func write(_ block: PropertyListObjectBuffer.Block, to output: StoreOutput) throws(PersistenceError)
    -> Written
  {
    let offset = output.byteCount
    try output.write(block.bytes)
    return Written(offset: offset, offsets: block.offsets)
  }

  private func finish(_ written: [Written], root: Int, width: Int, to output: StoreOutput) throws(PersistenceError) {
    let tableOffset = output.byteCount
    let offsetWidth = PropertyListObjectBuffer.referenceWidth(tableOffset)
    var count = 0
    for part in written {
      try output.write(Self.table(part.offsets, movedBy: part.offset, width: offsetWidth))
      count += part.offsets.count / 4
    }
    try output.write(Self.trailer(count: count, root: root, tableOffset: tableOffset, referenceWidth: width))
  }

  /// Returns the end of a file, which contains the place of the table and the width of the numbers.
  static func trailer(count: Int, root: Int, tableOffset: Int, referenceWidth: Int) -> ByteSlice {
    var trailer = TextBuffer(capacity: 32)
    let offsetWidth = PropertyListObjectBuffer.referenceWidth(tableOffset)
    trailer.append([0, 0, 0, 0, 0, 0, UInt8(offsetWidth), UInt8(referenceWidth)])
    for number in [count, root, tableOffset] { trailer.append(bigEndian: UInt64(number)) }
    return trailer.sealed()
  }

  /// Returns the offsets of objects, for a block that is at `start`.
  static func table(_ offsets: ByteSlice, movedBy start: Int, width: Int) -> ByteSlice {
    let count = offsets.count / 4
    var table = TextBuffer(capacity: count * width)
    for index in 0..<count {
      let offset = start + Int(offsets.unsafeBytes.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
      switch width {
      case 1: table.append(UInt8(truncatingIfNeeded: offset))
      case 2: table.append(bigEndian: UInt16(truncatingIfNeeded: offset))
      case 4: table.append(bigEndian: UInt32(truncatingIfNeeded: offset))
      default: table.append(bigEndian: UInt64(truncatingIfNeeded: offset))
      }
    }
    return table.sealed()
  }
}

/// Values of metadata as objects of a binary property list.
enum PropertyListObjects {
  /// Returns the greatest number of objects for a value.
  static func count(_ value: MetadataValue) -> Int {
    switch value {
    case .array(let values): values.reduce(1) { $0 + count($1) }
    // A wrapping has a key and a dictionary of its own.
    case .dictionary(let members): members.reduce(3) { $0 + 1 + count($1.value) }
    default: 1
    }
  }

  /// Appends the value and returns the number of its object.
  ///
  /// - Parameter wraps: whether a dictionary that could be taken for a wrapping is wrapped itself, as in files of
  ///   Heartwood's own format.
  static func append(_ value: MetadataValue, wraps: Bool = true, to buffer: inout PropertyListObjectBuffer) -> Int {
    switch value {
    case .string(let text): return buffer.append(string: text)
    case .integer(let number): return buffer.append(integer: number)
    case .double(let number): return buffer.append(double: number)
    case .boolean(let flag): return buffer.append(boolean: flag)
    case .date(let date): return buffer.append(date: date.timeIntervalSinceReferenceDate)
    case .binary(let data): return data.withUnsafeBytes { buffer.append(data: $0) }
    case .array(let values):
      var numbers: [Int] = []
      for value in values { numbers.append(append(value, wraps: wraps, to: &buffer)) }
      return buffer.append(array: numbers)
    case .dictionary(let members):
      let dictionary = append(members, wraps: wraps, to: &buffer)
      guard wraps, PropertyListWrapping.needsWrapping(members) else { return dictionary }
      return buffer.append(dictionary: [(buffer.append(string: PropertyListWrapping.dictionary), dictionary)])
    }
  }

  private static func append(
    _ members: [String: MetadataValue],
    wraps: Bool,
    to buffer: inout PropertyListObjectBuffer
  ) -> Int {
    var numbers: [(key: Int, value: Int)] = []
    for (key, value) in members.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      numbers.append((buffer.append(string: key), append(value, wraps: wraps, to: &buffer)))
    }
    return buffer.append(dictionary: numbers)
  }
}
