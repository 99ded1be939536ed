package import HeartwoodStore

/// Property lists that lie in other files, as values.
package enum PropertyListData {
  /// The value of a property list, binary or XML. Nulls and references of archives are left out of arrays and dictionaries.
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
  ///
  /// - Throws: ``PersistenceError/Code/valueUnsupported`` where ``value(of:path:)`` would refuse it: for its depth, or for all that is in it.
  package static func binary(_ value: MetadataValue) throws(PersistenceError) -> [UInt8] {
    // Depth comes first: to count what is nested without end would take more stack than there is.
    guard value.hasLevels(atMost: ArchiveValue.deepestNesting) else {
      throw unsupported("are nested more than \(ArchiveValue.deepestNesting) deep.", recovery: "Make them flatter.")
    }
    let count = PropertyListObjects.count(value)
    guard count < ArchiveValue.mostValues else {
      let problem = "have \(ArchiveValue.mostValues) values or more, keys included."
      throw unsupported(problem, recovery: "Keep less in them.")
    }
    let width = PropertyListObjectBuffer.referenceWidth(count)
    var buffer = PropertyListObjectBuffer(firstNumber: 0, referenceWidth: width, capacity: 1 << 12)
    let root = PropertyListObjects.append(value, wraps: false, to: &buffer)
    return file(buffer.sealed(), root: root, referenceWidth: width)
  }

  private static func unsupported(_ reason: String, recovery: PersistenceError.Recovery) -> PersistenceError {
    PersistenceError(
      .valueUnsupported,
      "The metadata could not be read again, for they \(reason)",
      recovery: recovery
    )
  }

  /// A whole binary property list of all its objects.
  static func file(_ block: PropertyListObjectBuffer.Block, root: Int, referenceWidth: Int) -> [UInt8] {
    let header = Array(PropertyListFormat.binaryHeader.utf8)
    let tableOffset = header.count + block.bytes.count
    let table = BinaryPropertyListWriter.table(
      block.offsets,
      movedBy: header.count,
      width: PropertyListObjectBuffer.referenceWidth(tableOffset)
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

extension MetadataValue {
  /// Whether values are in each other at most so deep, this one counted.
  fileprivate func hasLevels(atMost count: Int) -> Bool {
    guard count > 0 else { return false }
    switch self {
    case .array(let values): return values.allSatisfy { $0.hasLevels(atMost: count - 1) }
    case .dictionary(let members): return members.values.allSatisfy { $0.hasLevels(atMost: count - 1) }
    default: return true
    }
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
