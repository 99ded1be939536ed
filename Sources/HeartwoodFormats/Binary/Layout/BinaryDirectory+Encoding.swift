import HeartwoodStore

extension BinaryDirectory {
  /// The bits of a group's flags.
  enum GroupFlags {
    static let hasVersions: UInt8 = 1
  }

  /// The bits of a column's flags.
  enum ColumnFlags {
    static let hasValidity: UInt8 = 1
    static let hasEntityIndices: UInt8 = 2
  }

  /// The directory as it lies in the file.
  var encoded: ByteSlice {
    let bytes = GrowableBytes(capacity: sections.count * BinarySection.encodedLength + 1024)
    bytes.append(UInt32(truncatingIfNeeded: sections.count).littleEndian)
    bytes.append(UInt32(truncatingIfNeeded: tables.count).littleEndian)
    for section in sections { section.encode(to: bytes) }
    for table in tables { table.encode(to: bytes) }
    history?.encode(to: bytes)
    return bytes.sealed()
  }
}

extension BinaryDirectory.History {
  fileprivate func encode(to bytes: GrowableBytes) {
    bytes.append(purgedNumber.littleEndian)
    bytes.append(UInt32(truncatingIfNeeded: transactionCounts.count).littleEndian)
    for count in transactionCounts { bytes.append(UInt32(truncatingIfNeeded: count).littleEndian) }
  }
}

extension BinaryDirectory.Table {
  fileprivate func encode(to bytes: GrowableBytes) {
    bytes.append(name: entityName)
    bytes.append(UInt64(rowCount).littleEndian)
    bytes.append(UInt32(truncatingIfNeeded: columns.count).littleEndian)
    bytes.append(UInt32(truncatingIfNeeded: groups.count).littleEndian)
    for column in columns {
      bytes.append(column.type.rawValue)
      bytes.append(name: column.name)
    }
    for group in groups { group.encode(to: bytes) }
  }
}

extension BinaryDirectory.Group {
  fileprivate func encode(to bytes: GrowableBytes) {
    bytes.append(UInt32(truncatingIfNeeded: rowCount).littleEndian)
    bytes.append(hasVersions ? BinaryDirectory.GroupFlags.hasVersions : 0)
    bytes.append(referenceLayout.rawValue)
    bytes.append(UInt16(0))
    for column in columns { column.encode(to: bytes) }
  }
}

extension BinaryDirectory.GroupColumn {
  fileprivate func encode(to bytes: GrowableBytes) {
    var flags: UInt8 = 0
    if hasValidity { flags |= BinaryDirectory.ColumnFlags.hasValidity }
    if hasEntityIndices { flags |= BinaryDirectory.ColumnFlags.hasEntityIndices }
    bytes.append(flags)
    bytes.append(referenceLayout.rawValue)
    bytes.append(UInt16(0))
    bytes.append(UInt32(truncatingIfNeeded: entityIndex).littleEndian)
    bytes.append(UInt32(truncatingIfNeeded: referenceCount).littleEndian)
  }
}

extension GrowableBytes {
  fileprivate func append(name: String) {
    var name = name
    append(UInt32(truncatingIfNeeded: name.utf8.count).littleEndian)
    name.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }
}
