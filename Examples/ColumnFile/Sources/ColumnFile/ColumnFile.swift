import Foundation
import Heartwood

/// What is where in a file.
struct Directory: Codable, Sendable {
  let metadata: StoreMetadata
  /// The entities of the model, in order: references name them by place.
  let entities: [String]
  var tables: [Table]

  struct Table: Codable, Sendable {
    let entity: String
    let properties: [String]
    let groups: [Group]
  }

  /// Records of one entity, at most 65,536.
  struct Group: Codable, Sendable {
    let references: References
    /// 8 bytes for each record; nil if each was saved once.
    let versions: Part?
    let columns: [Column]

    var parts: [Part] { references.parts + [versions].compactMap(\.self) + columns.flatMap(\.parts) }
  }

  struct Column: Codable, Sendable {
    let kind: UInt8
    let validity: Part?
    let offsets: Part?
    let values: Part
    let references: References?

    var parts: [Part] { [validity, offsets, values].compactMap(\.self) + (references?.parts ?? []) }
  }

  struct References: Codable, Sendable {
    let count: Int
    let layout: UInt8
    let values: Part
    let offsets: Part?
    /// The entity of all of them, or 4 bytes for each.
    let entity: UInt32?
    let entities: Part?

    var parts: [Part] { [values, offsets, entities].compactMap(\.self) }
  }

  struct Part: Codable, Sendable {
    let offset: Int
    let length: Int
    let checksum: UInt64
  }
}

/// A file whose directory was read.
struct ColumnFile: Sendable {
  static let magic = [UInt8]("Columns1".utf8)
  private static let alignment = 8
  private static let trailerLength = 24

  let directory: Directory
  private let bytes: ByteSlice

  init(_ input: StoreInput) throws {
    bytes = try input.mapped()
    guard bytes.slice(from: 0, count: Self.magic.count)?.array == Self.magic else {
      throw PersistenceError(.fileMalformed, "The file is no column file: it does not begin with Columns1.")
    }
    let end = bytes.count - Self.trailerLength
    let trailer = bytes.slice(from: end, count: Self.trailerLength)
    let column = trailer.map { RecordColumn(kind: .int64, rowCount: 3, values: $0) }
    guard let numbers = column?.withValues(of: Int64.self, { numbers in (0..<3).map { numbers[$0] } }) else {
      throw Self.corrupt("there is no trailer", at: bytes.count)
    }
    let part = Directory.Part(
      offset: Int(numbers[0]),
      length: Int(numbers[1]),
      checksum: UInt64(bitPattern: numbers[2])
    )
    try Self.check(part, in: bytes)
    guard part.offset + part.length + Self.paddingLength(part.length) == end else {
      throw Self.corrupt("the directory does not end where the trailer begins", at: end)
    }
    directory = try JSONDecoder().decode(Directory.self, from: Data(try Self.slice(part, of: bytes).array))
  }
}

// MARK: Reading

extension ColumnFile {
  func rowGroup(_ group: Directory.Group, of entity: EntityDescription) throws(PersistenceError) -> RowGroup {
    var columns: [RecordColumn] = []
    for column in group.columns { columns.append(try self.column(column, rowCount: group.references.count)) }
    return try RowGroup(
      of: entity,
      references: try references(group.references),
      versions: try slice(group.versions).map { .each($0) } ?? .same(1),
      columns: columns
    )
  }

  private func column(_ column: Directory.Column, rowCount: Int) throws(PersistenceError) -> RecordColumn {
    guard let kind = ColumnKind(rawValue: column.kind) else {
      throw Self.corrupt("there is no kind \(column.kind) of columns", at: column.values.offset)
    }
    return RecordColumn(
      kind: kind,
      rowCount: rowCount,
      validity: try slice(column.validity).map { BitSlice($0) },
      offsets: try slice(column.offsets),
      values: try Self.slice(column.values, of: bytes),
      references: try column.references.map(references)
    )
  }

  private func references(_ references: Directory.References) throws(PersistenceError) -> ReferenceColumn {
    guard let layout = ReferenceColumn.Layout(rawValue: references.layout) else {
      throw Self.corrupt("there is no layout \(references.layout) of references", at: references.values.offset)
    }
    return ReferenceColumn(
      layout: layout,
      count: references.count,
      values: try Self.slice(references.values, of: bytes),
      offsets: try slice(references.offsets),
      entities: try slice(references.entities).map { .each($0) } ?? .same(references.entity ?? 0)
    )
  }

  /// Makes sure that a part is what was written.
  func check(_ part: Directory.Part) throws(PersistenceError) {
    try Self.check(part, in: bytes)
  }

  private static func check(_ part: Directory.Part, in bytes: ByteSlice) throws(PersistenceError) {
    guard try slice(part, of: bytes).checksum == part.checksum else {
      throw corrupt("a checksum does not hold", at: part.offset)
    }
    let padding = bytes.slice(from: part.offset + part.length, count: paddingLength(part.length))
    guard let padding, padding.array.allSatisfy({ $0 == 0 }) else {
      throw corrupt("the bytes behind a part are not zero", at: part.offset + part.length)
    }
  }

  private func slice(_ part: Directory.Part?) throws(PersistenceError) -> ByteSlice? {
    guard let part else { return nil }
    return try Self.slice(part, of: bytes)
  }

  private static func slice(_ part: Directory.Part, of bytes: ByteSlice) throws(PersistenceError) -> ByteSlice {
    guard let slice = bytes.slice(from: part.offset, count: part.length) else {
      throw corrupt("a part lies behind the end", at: part.offset)
    }
    return slice
  }

  private static func corrupt(_ what: String, at offset: Int) -> PersistenceError {
    PersistenceError(.fileCorrupt, "The file was cut short or altered: \(what).", context: .init(byteOffset: offset))
  }
}

// MARK: Writing

extension ColumnFile {
  static func write(_ group: RowGroup, to output: StoreOutput) throws(PersistenceError) -> Directory.Group {
    let references = try write(group.references, to: output)
    var versions: [Directory.Part] = []
    switch group.versions {
    case .same(1): break
    case .same(let version):
      let each = RecordColumn([Int64](repeating: Int64(clamping: version), count: group.rowCount))
      versions.append(try write(each.values, to: output))
    case .each(let each): versions.append(try write(each, to: output))
    }
    var columns: [Directory.Column] = []
    for column in group.columns { columns.append(try write(column, to: output)) }
    return Directory.Group(references: references, versions: versions.first, columns: columns)
  }

  private static func write(_ column: RecordColumn, to output: StoreOutput) throws(PersistenceError) -> Directory.Column
  {
    Directory.Column(
      kind: column.kind.rawValue,
      validity: try column.validity.map { bits throws(PersistenceError) in try write(bits.bytes, to: output) },
      offsets: try column.offsets.map { offsets throws(PersistenceError) in try write(offsets, to: output) },
      values: try write(column.values, to: output),
      references: try column.references.map { names throws(PersistenceError) in try write(names, to: output) }
    )
  }

  private static func write(_ references: ReferenceColumn, to output: StoreOutput) throws(PersistenceError)
    -> Directory.References
  {
    var (entity, entities): (UInt32?, Directory.Part?)
    switch references.entities {
    case .same(let ordinal): entity = ordinal
    case .each(let ordinals): entities = try write(ordinals, to: output)
    }
    return Directory.References(
      count: references.count,
      layout: references.layout.rawValue,
      values: try write(references.values, to: output),
      offsets: try references.offsets.map { offsets throws(PersistenceError) in try write(offsets, to: output) },
      entity: entity,
      entities: entities
    )
  }

  /// Writes bytes, and zeros up to the next multiple of 8.
  static func write(_ bytes: ByteSlice, to output: StoreOutput) throws(PersistenceError) -> Directory.Part {
    let part = Directory.Part(offset: output.byteCount, length: bytes.count, checksum: bytes.checksum)
    try output.write(bytes)
    try output.write([UInt8](repeating: 0, count: paddingLength(bytes.count)))
    return part
  }

  /// What a file ends with: where the directory is, how long it is, and its checksum.
  static func trailer(directory part: Directory.Part) -> ByteSlice {
    RecordColumn([Int64(part.offset), Int64(part.length), Int64(bitPattern: part.checksum)]).values
  }

  private static func paddingLength(_ length: Int) -> Int { (alignment - length % alignment) % alignment }
}
