import HeartwoodModel
import HeartwoodStore
import Synchronization

/// Reads the records of a binary property list on all processors, each value from the mapped file into a column.
struct BinaryPropertyListReader: Sendable {
  /// How much memory records may take for each byte of the file, and in any case: values may be shared, so a small file
  /// could contain a large table.
  private static let expansion = 64
  private static let leastAllowance = 256 << 20

  let list: BinaryPropertyList
  let schema: PropertyListSchema
  let path: String

  init(_ file: StoreInput, schema: PropertyListSchema) throws(PersistenceError) {
    self.schema = schema
    path = file.path
    list = try Self.list(file)
  }

  static func list(_ file: StoreInput) throws(PersistenceError) -> BinaryPropertyList {
    let slice = ByteSlice(try file.file.mapped().region)
    do throws(PropertyListFault) {
      return try BinaryPropertyList(slice)
    } catch {
      throw Self.error(error, path: file.path)
    }
  }

  static func error(_ fault: PropertyListFault, path: String) -> PersistenceError {
    PersistenceError(
      .fileMalformed,
      "\(fault.reason)",
      context: .init(path: path, byteOffset: fault.offset, storeType: .propertyList)
    )
  }

  // MARK: Header

  /// Reads the parts of the file other than its records.
  static func header(of file: StoreInput) throws(PersistenceError) -> PropertyListHeader {
    let list = try list(file)
    do throws(PropertyListFault) {
      return try header(of: list)
    } catch {
      throw Self.error(error, path: file.path)
    }
  }

  static func header(of list: BinaryPropertyList) throws(PropertyListFault) -> PropertyListHeader {
    guard case .dictionary(let keys, let values) = try list.object(list.root) else { return PropertyListHeader() }
    try checkKeys(keys, of: list)
    func value(_ key: String) throws(PropertyListFault) -> MetadataValue? {
      guard let member = try list.member(key, of: keys, values) else { return nil }
      return try list.value(member)
    }
    return PropertyListHeader(
      version: try value(PropertyListFormat.versionKey),
      metadata: try value(PropertyListFormat.metadataKey),
      model: try value(PropertyListFormat.modelKey)
    )
  }

  private static func checkKeys(
    _ keys: BinaryPropertyList.References,
    of list: BinaryPropertyList
  ) throws(PropertyListFault) {
    var seen: Set<String> = []
    for index in 0..<keys.count {
      guard let key = try list.key(keys[index]), PropertyListFormat.rootKeys.contains(key), seen.insert(key).inserted
      else {
        throw PropertyListFault(
          offset: try list.offset(list.root),
          reason: "The property list is not a store, or it has a key twice, or one that no store has."
        )
      }
    }
  }

  // MARK: Records

  func tables() throws -> [NodeTable] {
    let lists = try recordLists()
    defer { list.slice.region.releaseResidentPages() }
    let allowance = Self.allowance(list)
    return try lists.map { place, array in
      let count = try references(array).count
      let ranges = stride(from: 0, to: count, by: RowID.rowsPerGroup).map {
        $0..<min($0 + RowID.rowsPerGroup, count)
      }
      let entity = schema.entities[place]
      let groups = try Parallel.tryMap(ranges.count) { index in
        let reader = BinaryPropertyListRecordReader(
          list,
          schema: schema,
          entity: entity,
          path: path,
          allowance: allowance
        )
        return try reader.groups(try references(array), in: ranges[index])
      }
      guard groups.reduce(0, { $0 + $1.count }) <= RowID.maximumGroupCount else { throw tooMany(entity) }
      return NodeTable(entity: entity.description, groups: groups.flatMap(\.self))
    }
  }

  /// Returns the memory that the records of a file may take.
  static func allowance(_ list: BinaryPropertyList) -> RecordAllowance {
    RecordAllowance(
      max(leastAllowance, list.slice.count.multipliedReportingOverflow(by: expansion).partialValue)
    )
  }

  private func tooMany(_ entity: PropertyListSchema.Entity) -> PersistenceError {
    PersistenceError(
      .capabilityMissing,
      "The file has more records than an atomic store keeps.",
      context: .init(path: path, storeType: .propertyList, entity: entity.name)
    )
  }

  /// Returns the numbers of the objects in an array, which are in the file.
  private func references(_ array: Int) throws(PersistenceError) -> BinaryPropertyList.References {
    do throws(PropertyListFault) {
      guard case .array(let references) = try list.object(array) else {
        throw PropertyListFault(
          offset: try list.offset(array),
          reason: "The records of an entity must be an array."
        )
      }
      return references
    } catch {
      throw Self.error(error, path: path)
    }
  }

  /// Returns the array of the records of each entity, by the entity's place in the schema.
  private func recordLists() throws(PersistenceError) -> [(place: Int, array: Int)] {
    do throws(PropertyListFault) {
      guard case .dictionary(let keys, let values) = try list.object(list.root) else { return [] }
      guard let records = try list.member(PropertyListFormat.recordsKey, of: keys, values) else { return [] }
      let offset = try list.offset(records)
      guard case .dictionary(let names, let arrays) = try list.object(at: offset) else {
        throw PropertyListFault(
          offset: offset,
          reason: "The records must be a dictionary with an array for each entity."
        )
      }
      return try recordLists(names, arrays)
    } catch {
      throw Self.error(error, path: path)
    }
  }

  private func recordLists(
    _ names: BinaryPropertyList.References,
    _ arrays: BinaryPropertyList.References
  ) throws(PropertyListFault) -> [(place: Int, array: Int)] {
    var lists: [(Int, Int)] = []
    var seen = SeenObjects(count: list.objectCount)
    for index in 0..<names.count {
      let offset = try list.offset(arrays[index])
      guard let name = try list.key(names[index]), let place = schema.place(ofEntity: name),
        !lists.contains(where: { $0.0 == place })
      else {
        throw PropertyListFault(offset: offset, reason: "The file has records of an entity that the model lacks.")
      }
      guard case .array(let references) = try list.object(at: offset) else {
        throw PropertyListFault(offset: offset, reason: "The records of an entity must be an array.")
      }
      for index in 0..<references.count {
        let record = references[index]
        guard record >= 0, record < list.objectCount else { throw list.missingObject }
        guard seen.insert(record) else {
          throw PropertyListFault(
            offset: try list.offset(record),
            reason: "The same record occurs twice in the file."
          )
        }
      }
      lists.append((place, arrays[index]))
    }
    return lists
  }
}

/// The objects that have been read: a bit for each object of the file.
private struct SeenObjects {
  private var words: [UInt64]

  init(count: Int) {
    words = Array(repeating: 0, count: count / 64 + 1)
  }

  /// Adds an object; returns false if it was added before.
  mutating func insert(_ number: Int) -> Bool {
    let bit: UInt64 = 1 &<< UInt64(number & 63)
    defer { words[number >> 6] |= bit }
    return words[number >> 6] & bit == 0
  }
}

/// The number of bytes that records may still take in memory.
final class RecordAllowance: Sendable {
  private let left: Atomic<Int>

  init(_ bytes: Int) {
    left = Atomic(bytes)
  }

  /// Takes bytes from the allowance; returns false if there are not enough.
  func take(_ bytes: Int) -> Bool {
    left.wrappingSubtract(bytes, ordering: .relaxed).newValue >= 0
  }
}
