import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Writes a file: the header, the records and the metadata, in the order of Core Data's files.
struct CoreDataBinaryWriter {
  /// The version of Core Data's framework that a new file contains.
  private static let frameworkVersion: (key: String, value: Int64) = ("NSPersistenceFrameworkVersion", 1344)

  let schema: CoreDataBinarySchema
  let contents: StoreContents
  let form: CoreDataBinaryForm

  func write(to output: StoreOutput) throws {
    var keys = try CoreDataBinaryKeys(contents, schema)
    let records = try records(&keys)
    let metadata = try metadata()
    var header = form.header
    let start = CoreDataBinaryHeader.length
    header.records = start..<(start + records.count)
    header.metadata = header.records.upperBound..<(header.records.upperBound + metadata.count)
    header.greatestKey = keys.greatest
    try output.write(header.bytes)
    try output.write(records)
    try output.write(metadata)
  }

  static func tooLong() -> PersistenceError {
    PersistenceError(
      .valueUnsupported,
      "The records take more than 4 GiB, which is more than a binary store of Core Data is written with. Nothing was written.",
      recovery: .chooseAnotherType,
      context: .init(storeType: .coreDataBinary)
    )
  }

  // MARK: Metadata

  private func metadata() throws -> [UInt8] {
    var members = try CoreDataMetadata.members(of: contents.metadata, model: contents.model, form: form.metadata)
    if form.metadata.frameworkMembers.isEmpty {
      members[Self.frameworkVersion.key] = .integer(Self.frameworkVersion.value)
    }
    members[CoreDataBinaryWords.storeType] = .string(CoreDataBinaryWords.storeTypeName)
    members[CoreDataBinaryWords.identifier] = .string(contents.metadata.identifier.uuidString)
    let size = members.values.reduce(form.foreignMetadata.values.reduce(0) { $0 + $1.count }) { $0 + Self.size($1) }
    var archive = ArchiveObjectWriter(mostObjects: 256 + 8 * (size + members.count))
    let root = archive.reserve()
    var entries: [(key: Int, value: Int)] = []
    for (key, value) in members.sorted(by: { $0.key < $1.key }) {
      entries.append((archive.name(key), Self.append(value, under: key, to: &archive)))
    }
    for (key, bytes) in form.foreignMetadata.sorted(by: { $0.key < $1.key }) where members[key] == nil {
      let part = try ArchivedPart(bytes)
      entries.append((archive.name(key), archive.embed(part.objects, root: part.root)))
    }
    _ = archive.dictionary(.dictionary, entries, at: root)
    let reference = archive.reference(root)
    guard let bytes = archive.bytes(roots: [(CoreDataBinaryWords.metadata, reference)]) else { throw Self.tooLong() }
    return bytes
  }

  /// Returns at least an eighth of the number of objects for a value.
  private static func size(_ value: MetadataValue) -> Int {
    switch value {
    case .array(let values): values.reduce(1) { $0 + size($1) }
    case .dictionary(let members): members.values.reduce(1) { $0 + 1 + size($1) }
    default: 1
    }
  }

  /// Appends values; those of Core Data's own keys have the classes that they have in its files.
  private static func append(
    _ value: MetadataValue,
    under key: String,
    to archive: inout ArchiveObjectWriter
  ) -> Int {
    switch (key, value) {
    case (CoreDataBinaryWords.identifier, .string(let text)):
      let string = archive.inline(.string(text))
      return archive.instance(CoreDataBinaryWords.mutableString, [("NS.string", string)])
    case (CoreDataBinaryWords.hashes, .dictionary(let hashes)):
      var entries: [(key: Int, value: Int)] = []
      for (name, value) in hashes.sorted(by: { $0.key < $1.key }) {
        entries.append((archive.name(name), append(value, to: &archive)))
      }
      return archive.dictionary(.mutableDictionary, entries)
    default: return append(value, to: &archive)
    }
  }

  private static func append(_ value: MetadataValue, to archive: inout ArchiveObjectWriter) -> Int {
    switch value {
    case .string(let text): return archive.name(text)
    case .integer(let number): return archive.integer(number)
    case .double(let number): return archive.double(number)
    case .boolean(let flag): return archive.boolean(flag)
    case .binary(let data): return data.withUnsafeBytes { archive.data($0) }
    case .date(let date): return archive.date(date.timeIntervalSinceReferenceDate)
    case .array(let values):
      var items: [Int] = []
      for value in values { items.append(append(value, to: &archive)) }
      return archive.list(.array, items)
    case .dictionary(let members):
      var entries: [(key: Int, value: Int)] = []
      for (key, value) in members.sorted(by: { $0.key < $1.key }) {
        entries.append((archive.name(key), append(value, to: &archive)))
      }
      return archive.dictionary(.dictionary, entries)
    }
  }

  // MARK: Records

  private func records(_ keys: inout CoreDataBinaryKeys) throws -> [UInt8] {
    var archive = ArchiveObjectWriter(mostObjects: mostObjects)
    let map = archive.reserve()
    let null = archive.instance(CoreDataBinaryWords.null, [])
    var entries: [(key: Int, value: Int)] = []
    for entity in schema.entities {
      let table = contents.table(of: entity.description)
      let layout = layout(of: entity)
      for group in table.groups {
        let rows = CoreDataBinaryRows(entity: entity, group: group, attributes: layout.attributes, null: null)
        for row in group.liveRuns.joined() {
          let reference = group.references[row]
          let key = try keys.key(of: reference, entityOrdinal: entity.description.ordinal)
          let own = reference == .integer(key) ? nil : reference
          let node = try rows.append(row, key: key, reference: own, valueCount: layout.count, &keys, to: &archive)
          entries.append((archive.integer(key), node))
        }
      }
    }
    _ = archive.dictionary(.mutableDictionary, entries, at: map)
    var roots = [(key: CoreDataBinaryWords.mapData, value: archive.reference(map))]
    if !keys.missing.isEmpty {
      let missing = self.missing(keys, in: &archive)
      roots.append((CoreDataBinaryWords.missingRecords, archive.reference(missing)))
    }
    if let next = keys.nextNumber {
      let number = archive.integer(next)
      roots.append((CoreDataBinaryWords.nextNumber, archive.reference(number)))
    }
    guard let bytes = archive.bytes(roots: roots) else { throw Self.tooLong() }
    return bytes
  }

  /// Appends the references of missing records.
  private func missing(_ keys: CoreDataBinaryKeys, in archive: inout ArchiveObjectWriter) -> Int {
    var records: [Int] = []
    for (key, name) in keys.missing {
      let number = archive.integer(key)
      let entity = archive.name(contents.model.entities[name.entityOrdinal].name)
      let reference =
        if case .integer(let number) = name.reference { archive.integer(number) } else {
          archive.name(name.reference.text)
        }
      records.append(archive.list(.array, [number, entity, reference]))
    }
    return archive.list(.array, records)
  }

  /// Returns the attributes of an entity by position, and the number of values of a record.
  private func layout(of entity: CoreDataBinarySchema.Entity) -> (attributes: [Int?], count: Int) {
    let former = form.valueCounts[entity.name]
    let attributes = former.flatMap { entity.attributes(ofValueCount: $0) } ?? entity.attributes
    let count = attributes.count + entity.relationships.count
    return (attributes, schema.isRecovered ? max(count, former ?? 0) : count)
  }

  /// At least the number of objects in the property list.
  private var mostObjects: Int {
    schema.entities.reduce(1024) { sum, entity in
      let table = contents.table(of: entity.description)
      let perRecord = 24 + entity.attributes.count * 16 + entity.relationships.count * 12
      let links = table.groups.reduce(0) { sum, group in
        sum + group.columns.reduce(0) { $0 + ($1.references?.count ?? 0) }
      }
      let data = entity.attributes.compactMap(\.self).filter { ordinal in
        let type = entity.description.traits[ordinal].attributeType
        return type == .transformable || type == .undefined
      }
      let bytes = table.groups.reduce(0) { sum, group in
        sum + data.reduce(0) { $0 + group.columns[$1].values.count }
      }
      return sum + table.groups.reduce(0) { $0 + $1.rowCount } * perRecord + links * 12 + bytes * 4
    }
  }
}

// MARK: ArchivedPart

/// The objects of a small archive that is to be a part of another.
struct ArchivedPart {
  let objects: [ArchiveValue]
  let root: Int

  init(_ bytes: Data) throws(PersistenceError) {
    do throws(ArchiveError) {
      guard case .dictionary(let members) = try ArchiveReader.value(of: [UInt8](bytes)),
        case .array(let objects) = members["$objects"], case .dictionary(let top) = members["$top"],
        case .reference(let root) = top["root"], objects.indices.contains(root)
      else { throw ArchiveError(message: "The property list is not a keyed archive.") }
      (self.objects, self.root) = (objects, root)
    } catch {
      throw PersistenceError(.valueUnsupported, error.message, context: .init(storeType: .coreDataBinary))
    }
  }

  /// Reads the objects of the value of a transformable attribute, if it is an archive that would be written again byte
  /// by byte from them; else returns nil.
  ///
  /// Core Data stores the object itself and not its archive.
  init?(value bytes: UnsafeRawBufferPointer) {
    guard bytes.starts(with: PropertyListFormat.binaryMagic) else { return nil }
    let region = ByteRegion.copying(bytes)
    // try?: bytes that are no archive, or one that is written differently, are stored as bytes.
    guard let archive = try? ArchivedObjects(region, in: 0..<region.count), let root = try? archive.root("root"),
      let value = try? archive.value(root), !value.isNull, !value.isData,
      let again = try? archive.archive(of: root, RecordAllowance(region.count * 64 + 1024)),
      again.elementsEqual(bytes), let part = try? ArchivedPart(Data(bytes))
    else { return nil }
    self = part
  }
}

extension ArchivedObjects.Value {
  var isNull: Bool { if case .null = self { true } else { false } }
}

// MARK: CoreDataBinaryRows

/// Writes rows of one group as nodes.
///
/// It reads the group's columns through their views: it holds the group, and the rows must be the group's.
struct CoreDataBinaryRows {
  let entity: CoreDataBinarySchema.Entity
  let group: RowGroup
  let attributes: [Int?]
  /// The object for no value.
  let null: Int

  /// - Parameter reference: The reference of the record, if it is not its key.
  /// - Returns: The object of the record.
  func append(
    _ row: Int,
    key: Int64,
    reference: ReferenceID?,
    valueCount: Int,
    _ keys: inout CoreDataBinaryKeys,
    to archive: inout ArchiveObjectWriter
  ) throws -> Int {
    var values: [Int] = []
    for ordinal in attributes {
      guard let ordinal, let type = entity.description.traits[ordinal].attributeType else {
        values.append(null)
        continue
      }
      values.append(value(type, group.unsafeViews[ordinal], row, in: &archive))
    }
    values += Array(repeating: null, count: max(0, valueCount - values.count))
    let list = archive.list(.array, values)
    let name = archive.name(entity.name)
    var members = [
      (name: CoreDataBinaryWords.attributeValues, value: archive.reference(list)),
      (name: CoreDataBinaryWords.key, value: archive.inline(.integer(key))),
      (name: CoreDataBinaryWords.entityName, value: archive.reference(name)),
    ]
    if let related = try related(row, &keys, in: &archive) {
      members.append((CoreDataBinaryWords.relatedNodes, archive.reference(related)))
    }
    if let reference {
      let value: ArchiveValue =
        if case .integer(let number) = reference { .integer(number) } else { .string(reference.text) }
      members.append((CoreDataBinaryWords.reference, archive.inline(value)))
    }
    return archive.instance(CoreDataBinaryWords.node, members)
  }

  /// Returns the dictionary of the relationships that have destinations; nil if there are none.
  private func related(
    _ row: Int,
    _ keys: inout CoreDataBinaryKeys,
    in archive: inout ArchiveObjectWriter
  ) throws -> Int? {
    var entries: [(key: Int, value: Int)] = []
    for relationship in entity.relationships {
      let column = group.columns[relationship.ordinal]
      guard let references = column.references else { continue }
      let range = relationship.isToMany ? column.range(row) : row..<(row + 1)
      guard !range.isEmpty, relationship.isToMany || column.validity?[row] ?? true else { continue }
      var items: [Int] = []
      for index in range {
        items.append(
          archive.integer(try keys.key(of: references[index], entityOrdinal: references.entityOrdinal(index)))
        )
      }
      let list = archive.list(relationship.isToMany ? .mutableArray : .array, items)
      entries.append((archive.name(relationship.name), list))
    }
    return entries.isEmpty ? nil : archive.dictionary(.mutableDictionary, entries)
  }

  private func value(
    _ type: AttributeType,
    _ view: ColumnView,
    _ row: Int,
    in archive: inout ArchiveObjectWriter
  ) -> Int {
    if view.unsafeIsNull(row) { return null }
    switch type {
    case .integer16, .integer32, .integer64: return archive.integer(view.unsafeInteger(row))
    // All files have this form: a Boolean's number is an integer.
    case .boolean: return archive.integer(view.unsafeBoolean(row) ? 1 : 0)
    case .double: return archive.double(view.unsafeDouble(row))
    case .float: return archive.float(view.unsafeFloat(row))
    case .string: return archive.text(view.unsafeBytes(row))
    case .binary: return archive.data(view.unsafeBytes(row))
    case .date: return archive.date(view.unsafeDouble(row))
    case .decimal: return decimal(view.unsafeDecimal(row), in: &archive)
    case .uuid:
      let bytes = withUnsafeBytes(of: view.unsafeUUID(row).uuid) { Data($0) }
      let data = archive.inline(.data(bytes))
      return archive.instance(.uuid, [("NS.uuidbytes", data)])
    case .uri:
      let text = archive.text(view.unsafeBytes(row))
      let members = [("NS.base", archive.reference(0)), ("NS.relative", archive.reference(text))]
      return archive.instance(.url, members.map { (name: $0.0, value: $0.1) })
    case .transformable, .undefined:
      let bytes = view.unsafeBytes(row)
      guard let part = ArchivedPart(value: bytes) else { return archive.data(bytes) }
      return archive.embed(part.objects, root: part.root)
    }
  }

  private func decimal(_ number: Decimal, in archive: inout ArchiveObjectWriter) -> Int {
    var members: [(name: String, value: Int)] = []
    for (name, value) in ArchivedDecimal(number).members.sorted(by: { $0.key < $1.key }) {
      members.append((name, archive.inline(value)))
    }
    return archive.instance(.decimalNumber, members)
  }
}
