package import HeartwoodStore

/// Property lists that lie in other files, as values.
package enum PropertyListData {
  /// The value of a property list, binary or XML. What is nothing, and references of archives, are left out of arrays and dictionaries.
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed`` with the place in `bytes` and the path of the file that they are of.
  package static func value(of bytes: [UInt8], path: String) throws(PersistenceError) -> MetadataValue {
    let value: ArchiveValue
    do {
      value = try ArchiveReader.value(of: bytes)
    } catch {
      let context = PersistenceError.Context(path: path, line: error.line, byteOffset: error.offset)
      throw PersistenceError(.fileMalformed, error.message, context: context)
    }
    guard let value = value.metadata else {
      throw PersistenceError(.fileMalformed, "The property list holds nothing.", context: .init(path: path))
    }
    return value
  }

  /// A binary property list of a value, the same bytes for the same value.
  package static func binary(_ value: MetadataValue) -> [UInt8] {
    let width = BinaryObjectBuffer.referenceWidth(PropertyListObjects.count(value))
    var buffer = BinaryObjectBuffer(firstNumber: 0, referenceWidth: width, capacity: 1 << 12)
    let root = PropertyListObjects.append(value, wraps: false, to: &buffer)
    return file(buffer.sealed(), root: root, referenceWidth: width)
  }

  /// A whole binary property list of all its objects.
  static func file(_ block: BinaryObjectBuffer.Block, root: Int, referenceWidth: Int) -> [UInt8] {
    let header = Array(PropertyListFormat.binaryHeader.utf8)
    let tableOffset = header.count + block.bytes.count
    let table = BinaryPropertyListWriter.table(
      block.offsets,
      movedBy: header.count,
      width: BinaryObjectBuffer.referenceWidth(tableOffset)
    )
    let trailer = BinaryPropertyListWriter.trailer(
      count: block.offsets.count / 4,
      root: root,
      tableOffset: tableOffset,
      referenceWidth: referenceWidth
    )
    return header + [block.bytes, table, trailer].flatMap { Array($0.unsafeBytes) }
  }
}

extension ArchiveValue {
  fileprivate var metadata: MetadataValue? {
    switch self {
    case .null, .reference: nil
    case .boolean(let flag): .boolean(flag)
    case .integer(let number): .integer(number)
    case .real(let number): .double(number)
    case .date(let date): .date(date)
    case .string(let text): .string(text)
    case .data(let data): .binary(data)
    case .array(let values): .array(values.compactMap(\.metadata))
    case .dictionary(let members): .dictionary(members.compactMapValues(\.metadata))
    }
  }
}
