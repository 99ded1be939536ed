import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes a store's file from its beginning to its end, columns straight from memory.
struct BinaryWriter {
  private let contents: StoreContents
  private let memory: BinarySaveMemory
  private let path: String?
  private let grouping: BinaryGrouping

  init(
    _ contents: StoreContents,
    memory: BinarySaveMemory,
    path: String?,
    grouping: BinaryGrouping = BinaryGrouping()
  ) {
    self.contents = contents
    self.memory = memory
    self.path = path
    self.grouping = grouping
  }

  /// Writes the file and returns what to remember of it until the next save.
  func write(to output: StoreOutput) throws -> BinarySaveMemory {
    let images = try images()
    let metadata = BinaryMetadataArea.encoded(try contents.metadata.binaryJSON(path: path))
    let model = ByteSlice(copying: try contents.model.encoded())
    let pages = historyPages()
    let parts =
      // The metadata have checksums of their own, so that they can be written over.
      [.init(bytes: metadata, checksum: 0), BinaryGroupImage.Part(bytes: model, checksum: XXH64.hash(model))]
      + images.flatMap { $0.flatMap(\.parts) } + pages.map(\.part)
    try output.write(header.encoded)
    let sections = try parts.map { try section($0, to: output) }
    let directory = BinaryDirectory(sections: sections, tables: tables(images), history: historyEntry)
    try writeDirectory(directory, to: output)
    return BinarySaveMemory(images.flatMap(\.self), pages, of: contents)
  }

  private var header: BinaryHeader {
    BinaryHeader(storeIdentifier: contents.metadata.identifier, hasHistory: contents.history != nil)
  }

  private var historyEntry: BinaryDirectory.History? {
    contents.history.map { history in
      .init(purgedNumber: history.purgedNumber, transactionCounts: history.pages.map(\.transactionCount))
    }
  }

  /// The pages of the history; only those that are new are hashed.
  private func historyPages() -> [BinaryHistoryImage] {
    let pages = contents.history?.pages ?? []
    return pages.map { memory.image(of: $0) ?? BinaryHistoryImage($0, checksum: XXH64.hash($0.content)) }
  }

  private func section(_ part: BinaryGroupImage.Part, to output: StoreOutput) throws(PersistenceError) -> BinarySection
  {
    let offset = output.byteCount
    try output.write(part.bytes)
    try pad(output)
    return BinarySection(offset: offset, length: part.bytes.count, checksum: part.checksum)
  }

  private func writeDirectory(_ directory: BinaryDirectory, to output: StoreOutput) throws(PersistenceError) {
    let bytes = directory.encoded
    let section = try section(.init(bytes: bytes, checksum: XXH64.hash(bytes)), to: output)
    try output.write(BinaryTrailer(directory: section).encoded)
  }

  private func pad(_ output: StoreOutput) throws(PersistenceError) {
    try output.write(Array(BinaryFormat.zeros.prefix(BinaryFormat.paddingLength(output.byteCount))))
  }

  private func tables(_ images: [[BinaryGroupImage]]) -> [BinaryDirectory.Table] {
    zip(contents.model.entities, images).map { entity, images in
      BinaryDirectory.Table(
        entityName: entity.name,
        columns: entity.storedOrdinals.map { ordinal in
          let property = entity.properties[ordinal]
          return .init(name: property.name, type: BinaryPropertyType(property))
        },
        groups: images.map(\.entry)
      )
    }
  }
}

// MARK: Images

extension BinaryWriter {
  /// The images of each table's groups, indexed by entity ordinal. Made on all processors.
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
    if let fault = ColumnMeaning.fault(in: group.references)
      ?? ColumnMeaning.fault(in: group.versions, rowCount: group.rowCount)
    {
      throw unsupported(fault, entity, nil)
    }
    for ordinal in entity.storedOrdinals {
      guard let fault = meaning.fault(in: group.columns[ordinal], ordinal: ordinal) else { continue }
      throw unsupported(fault, entity, entity.properties[ordinal].name)
    }
    return BinaryGroupImage(group, ordinals: entity.storedOrdinals, entityCount: contents.model.entities.count)
  }

  private func unsupported(_ fault: ColumnFault, _ entity: EntityDescription, _ property: String?) -> PersistenceError {
    PersistenceError(
      .valueUnsupported,
      "The store cannot keep a value: \(fault.what). Nothing was written.",
      context: .init(path: path, storeType: .binary, entity: entity.name, property: property)
    )
  }
}

extension EntityDescription {
  /// The ordinals of the properties that a store keeps.
  fileprivate var storedOrdinals: [Int] { properties.indices.filter { !properties[$0].isTransient } }
}

extension StoreMetadata {
  /// The text that the file has of the metadata.
  func binaryJSON(path: String?) throws(PersistenceError) -> Data {
    do {
      return try json()
    } catch {
      throw PersistenceError(
        .valueUnsupported,
        "The metadata cannot be written as JSON.",
        recovery: "Look at the values under the keys of your own.",
        context: .init(path: path, storeType: .binary),
        underlyingError: error
      )
    }
  }
}
