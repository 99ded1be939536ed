import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Writes a store's file from its beginning to its end, columns straight from memory.
struct BinaryWriter {
  private let contents: StoreContents
  private let memory: BinarySaveMemory
  private let path: String?
  private let grouping: RowGrouping
  private let leastLengthWithLog: Int

  init(
    _ contents: StoreContents,
    memory: BinarySaveMemory,
    path: String?,
    grouping: RowGrouping = RowGrouping(),
    leastLengthWithLog: Int = BinaryFormat.leastLengthWithLog
  ) {
    self.contents = contents
    self.memory = memory
    self.path = path
    self.grouping = grouping
    self.leastLengthWithLog = leastLengthWithLog
  }

  /// Writes the file and returns what is kept of it for the next save.
  func write(to output: StoreOutput) throws -> BinarySaveMemory {
    let images = try images()
    let metadata = BinaryMetadataArea.encoded(try contents.metadata.binaryJSON(path: path))
    let model = ByteSlice(copying: try contents.model.encoded())
    let pages = historyPages()
    let parts =
      // The metadata has checksums of its own, so that it can be overwritten.
      [.init(bytes: metadata, checksum: 0), BinaryGroupImage.Part(bytes: model, checksum: XXH64.hash(model))]
      + images.flatMap { $0.flatMap(\.parts) } + pages.map(\.part)
    let header = BinaryHeader(
      storeIdentifier: contents.metadata.identifier,
      hasHistory: contents.history != nil,
      hasLog: parts.reduce(0) { $0 + $1.bytes.count } >= leastLengthWithLog
    )
    let directory = BinaryDirectory(
      sections: sections(parts, from: header.firstSectionOffset),
      tables: tables(images),
      history: historyEntry
    )
    let directoryBytes = directory.encoded
    let trailer = BinaryTrailer(
      directory: BinarySection(
        offset: directory.sections.last?.end ?? header.firstSectionOffset,
        length: directoryBytes.count,
        checksum: XXH64.hash(directoryBytes)
      )
    )
    try writeFront(header, trailer, to: output)
    for part in parts { try write(part.bytes, to: output) }
    try write(directoryBytes, to: output)
    try output.write(trailer.encoded)
    let log = header.hasLog ? try log(trailer) : nil
    return BinarySaveMemory(images.flatMap(\.self), pages, of: contents, log: log)
  }

  private func log(_ trailer: BinaryTrailer) throws(PersistenceError) -> BinaryLogMemory {
    BinaryLogMemory(
      newest: BinarySlot(trailer),
      metadata: try contents.metadata.binaryJSON(path: path),
      numberings: contents.tables.map(BinaryRowNumbering.init)
    )
  }

  private func writeFront(
    _ header: BinaryHeader,
    _ trailer: BinaryTrailer,
    to output: StoreOutput
  ) throws(PersistenceError) {
    var front = header.encoded.array
    if header.hasLog {
      front += [UInt8](repeating: 0, count: BinarySlot.frontLength - front.count)
      for offset in BinarySlot.offsets {
        front.replaceSubrange(offset..<(offset + BinarySlot.length), with: BinarySlot(trailer).encoded)
      }
    }
    try output.write(front)
  }

  /// Returns the places of parts that lie one after the other.
  private func sections(_ parts: [BinaryGroupImage.Part], from offset: Int) -> [BinarySection] {
    var next = offset
    return parts.map { part in
      let section = BinarySection(offset: next, length: part.bytes.count, checksum: part.checksum)
      next = section.end
      return section
    }
  }

  private var historyEntry: BinaryDirectory.History? {
    contents.history.map { history in
      .init(purgedNumber: history.purgedNumber, transactionCounts: history.pages.map(\.transactionCount))
    }
  }

  /// Returns the images of the history's pages; only those that are new are hashed.
  private func historyPages() -> [BinaryHistoryImage] {
    let pages = contents.history?.pages ?? []
    return pages.map { memory.image(of: $0) ?? BinaryHistoryImage($0, checksum: XXH64.hash($0.content)) }
  }

  /// Writes bytes and the zeros after them.
  private func write(_ bytes: ByteSlice, to output: StoreOutput) throws(PersistenceError) {
    try output.write(bytes)
    try output.write(Array(BinaryFormat.zeros.prefix(BinaryFormat.paddingLength(bytes.count))))
  }

  private func tables(_ images: [[BinaryGroupImage]]) -> [BinaryDirectory.Table] {
    zip(contents.model.entities, images).map { entity, images in
      BinaryDirectory.Table(
        entityName: entity.name,
        columns: BinaryDirectory.Column.all(of: entity),
        groups: images.map(\.entry)
      )
    }
  }
}

// MARK: Images

extension BinaryWriter {
  /// Returns the images of each table's groups, indexed by entity ordinal. Made on all processors.
  private func images() throws -> [[BinaryGroupImage]] {
    try contents.tables.map { table in
      let groups = try grouping.groups(of: table)
      let meaning = ColumnMeaning(of: table.entity, in: contents.model)
      return try Parallel.tryMap(groups.count) { index in
        try memory.image(of: groups[index]) ?? image(of: groups[index], table.entity, meaning)
      }
    }
  }

  private func image(
    of group: RowGroup,
    _ entity: EntityDescription,
    _ meaning: ColumnMeaning
  ) throws(PersistenceError) -> BinaryGroupImage {
    if let fault = meaning.fault(in: group) {
      throw fault.unsupported(by: .binary, path: path, entity: entity.name)
    }
    return BinaryGroupImage(group, ordinals: entity.storedOrdinals, entityCount: contents.model.entities.count)
  }
}

extension EntityDescription {
  /// The ordinals of the properties that a store keeps.
  var storedOrdinals: [Int] { properties.indices.filter { !properties[$0].isTransient } }
}

extension StoreMetadata {
  /// Returns the JSON text of the metadata in the file.
  func binaryJSON(path: String?) throws(PersistenceError) -> Data {
    do {
      return try json()
    } catch {
      throw PersistenceError(
        .valueUnsupported,
        "The metadata cannot be written as JSON.",
        recovery: "Check the values under your own keys.",
        context: .init(path: path, storeType: .binary),
        underlyingError: error
      )
    }
  }
}

// MARK: BinaryGroupImage

/// The image of a group of rows in a file: its entry in the directory, and the bytes of its sections.
struct BinaryGroupImage: Sendable {
  struct Part: Sendable {
    let bytes: ByteSlice
    let checksum: UInt64
  }

  let group: RowGroup
  let entry: BinaryDirectory.Group
  let parts: [Part]
}

extension BinaryGroupImage {
  /// Makes the image of a group without deleted rows, whose columns have the form that the format requires. O(bytes),
  /// for the checksums.
  ///
  /// - Parameters:
  ///   - ordinals: the stored properties.
  ///   - entityCount: the number of entities in the model.
  init(_ group: RowGroup, ordinals: [Int], entityCount: Int) {
    var builder = BinaryImageBuilder(entityCount: entityCount)
    builder.append(group.references)
    let versions = group.writtenVersions
    if let versions { builder.append(versions) }
    let columns = ordinals.map { builder.append(group.columns[$0]) }
    self.group = group
    self.entry = BinaryDirectory.Group(
      rowCount: group.rowCount,
      referenceLayout: group.references.layout,
      hasVersions: versions != nil,
      columns: columns
    )
    self.parts = builder.parts
  }
}

/// Builds the sections of a group in the order of the format.
struct BinaryImageBuilder {
  private let entityCount: Int
  private(set) var parts: [BinaryGroupImage.Part] = []

  init(entityCount: Int) {
    self.entityCount = entityCount
  }

  mutating func append(_ bytes: ByteSlice) {
    parts.append(.init(bytes: bytes, checksum: XXH64.hash(bytes)))
  }

  mutating func append(_ references: ReferenceColumn) {
    if let offsets = references.offsets { append(offsets) }
    append(references.values)
  }

  mutating func append(_ column: RecordColumn) -> BinaryDirectory.GroupColumn {
    var entry = BinaryDirectory.GroupColumn()
    if let validity = column.writtenValidity {
      entry.hasValidity = true
      append(validity)
    }
    if let offsets = column.offsets { append(offsets) }
    guard let references = column.references else {
      append(column.values)
      return entry
    }
    entry.referenceLayout = references.layout
    entry.referenceCount = references.count
    switch references.entities {
    case .same(let ordinal): entry.entityIndex = Int(index(ofEntity: ordinal))
    case .each(let ordinals):
      entry.hasEntityIndices = true
      append(indices(ofEntities: ordinals))
    }
    append(references)
    return entry
  }

  /// Returns the place of an entity's table. A placeholder without a record may have an entity that the model does not
  /// have.
  private func index(ofEntity ordinal: UInt32) -> UInt32 { ordinal < entityCount ? ordinal : 0 }

  /// Returns the places of the tables: the bytes in memory if the model has all of the entities. O(bytes).
  private func indices(ofEntities ordinals: ByteSlice) -> ByteSlice {
    func ordinal(at place: Int) -> UInt32 {
      ordinals.unsafeBytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
    }
    let places = stride(from: 0, to: ordinals.count - 3, by: 4)
    if places.allSatisfy({ ordinal(at: $0) < entityCount }) { return ordinals }
    let indices = GrowableBytes(capacity: ordinals.count)
    for place in places { indices.append(index(ofEntity: ordinal(at: place))) }
    return indices.sealed()
  }
}

extension RowGroup {
  /// The versions, or nil if all are 1.
  fileprivate var writtenVersions: ByteSlice? {
    switch versions {
    case .same(1): return nil
    case .same(let version):
      let bytes = GrowableBytes(capacity: rowCount * 8)
      for _ in 0..<rowCount { bytes.append(version) }
      return bytes.sealed()
    case .each(let bytes):
      return (0..<rowCount).allSatisfy { versions[$0] == 1 } ? nil : bytes
    }
  }
}

extension RecordColumn {
  /// The validity bits, or nil if every row has a value, or if rows of this kind always have one.
  fileprivate var writtenValidity: ByteSlice? {
    guard kind != .toMany, let validity else { return nil }
    let bytes = validity.bytes.unsafeBytes
    let wholeCount = rowCount / 8
    let isFull =
      bytes[..<wholeCount].allSatisfy { $0 == 0xFF }
      && (wholeCount * 8..<rowCount).allSatisfy { validity[$0] }
    return isFull ? nil : validity.bytes
  }
}

// MARK: BinaryHistoryImage

/// The image of a page of the history in a file: its bytes as they are, and their checksum.
struct BinaryHistoryImage: Sendable {
  let page: HistoryPage
  private let checksum: UInt64

  init(_ page: HistoryPage, checksum: UInt64) {
    self.page = page
    self.checksum = checksum
  }

  var part: BinaryGroupImage.Part { .init(bytes: page.content, checksum: checksum) }
}
