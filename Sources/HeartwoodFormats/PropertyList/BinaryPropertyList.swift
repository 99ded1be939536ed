import HeartwoodStore

/// A fault of a property list in binary form, at a byte of the file.
struct PropertyListFault: Error {
  var offset: Int
  var reason: StaticString
}

/// A property list in binary form: objects in mapped bytes, found by number.
///
/// An unsafe place: the list holds the bytes. Every object's place and length are compared with the bounds of the
/// objects before a byte of it is read.
struct BinaryPropertyList: Sendable {
  /// An object, as it lies in the file.
  enum Object {
    case scalar(PropertyListScalar)
    case array(References)
    case dictionary(keys: References, values: References)
  }

  /// The numbers of objects, one after another.
  struct References {
    let bytes: UnsafeRawBufferPointer
    let width: Int

    var count: Int { bytes.count / width }

    @inline(__always)
    subscript(index: Int) -> Int {
      BinaryPropertyList.number(bytes, at: index &* width, width: width)
    }
  }

  static let headerLength = 8
  private static let trailerLength = 32

  let slice: ByteSlice
  let objectCount: Int
  let root: Int
  /// The bytes of ``slice``. `nonisolated(unsafe)`: they are never written to, so they may be read from any thread.
  nonisolated(unsafe) private let base: UnsafeRawBufferPointer
  private let offsetWidth: Int
  let referenceWidth: Int
  private let tableOffset: Int
  /// The offsets of the objects of a damaged file, found without its table.
  private let foundOffsets: [Int]?
  /// Parts of the file that must not be trusted.
  private let unsoundRanges: [Range<Int>]

  /// Makes a list whose objects have been found one after the other, up to `end`.
  ///
  /// - Parameter root: the number of the root; -1 if there is none.
  init(
    _ slice: ByteSlice,
    objectsAt offsets: [Int],
    end: Int,
    root: Int,
    referenceWidth: Int,
    unsoundRanges: [Range<Int>] = []
  ) {
    self.slice = slice
    base = slice.unsafeBytes
    foundOffsets = offsets
    self.unsoundRanges = unsoundRanges
    (objectCount, self.root, self.referenceWidth) = (offsets.count, root, referenceWidth)
    (offsetWidth, tableOffset) = (1, end)
  }

  /// - Throws: ``PropertyListFault`` if the trailer does not fit the file.
  init(_ slice: ByteSlice, unsoundRanges: [Range<Int>] = []) throws(PropertyListFault) {
    self.slice = slice
    self.unsoundRanges = unsoundRanges
    foundOffsets = nil
    let base = slice.unsafeBytes
    self.base = base
    guard slice.count >= Self.headerLength + Self.trailerLength + 1,
      base.starts(with: PropertyListFormat.binaryMagic)
    else {
      throw PropertyListFault(offset: 0, reason: "The file is too short or does not begin as a binary property list.")
    }
    let trailer = slice.count - Self.trailerLength
    offsetWidth = Int(base[trailer + 6])
    referenceWidth = Int(base[trailer + 7])
    let numbers = (0...2).map { Self.number(base, at: trailer + 8 + $0 * 8, width: 8) }
    (objectCount, root, tableOffset) = (numbers[0], numbers[1], numbers[2])
    guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth), objectCount > 0, root >= 0,
      root < objectCount, tableOffset > Self.headerLength, tableOffset <= trailer,
      objectCount <= (trailer - tableOffset) / offsetWidth
    else {
      throw PropertyListFault(
        offset: trailer,
        reason: "The file was cut short or altered: the trailer at its end does not fit it."
      )
    }
  }

  /// Returns a big-endian number; -1 if it is greater than a file can contain.
  @inline(__always)
  fileprivate static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int, width: Int) -> Int {
    switch width {
    case 1: return Int(bytes[offset])
    case 2: return Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    case 4: return Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    default:
      var number: UInt64 = 0
      for index in 0..<width { number = number << 8 | UInt64(bytes[offset + index]) }
      return Int(exactly: number) ?? -1
    }
  }

  // MARK: Objects

  /// Returns the offset of an object.
  @inline(__always)
  func offset(_ object: Int) throws(PropertyListFault) -> Int {
    guard object >= 0, object < objectCount else { throw missingObject }
    if let foundOffsets { return foundOffsets[object] }
    let place = tableOffset &+ object &* offsetWidth
    let offset = Self.number(base, at: place, width: offsetWidth)
    guard offset >= Self.headerLength, offset < tableOffset else {
      throw PropertyListFault(offset: place, reason: "The place of an object is outside of the objects.")
    }
    return offset
  }

  /// The end of the objects.
  var objectsEnd: Int { tableOffset }

  @inline(__always)
  private func checkSound(_ range: Range<Int>) throws(PropertyListFault) {
    guard !unsoundRanges.isEmpty, unsoundRanges.overlaps(range) else { return }
    throw PropertyListFault(offset: range.lowerBound, reason: "Bytes of the object were changed or are missing.")
  }

  var missingObject: PropertyListFault {
    PropertyListFault(offset: tableOffset, reason: "A reference points to an object that does not exist.")
  }

  @inline(__always)
  func object(_ number: Int) throws(PropertyListFault) -> Object {
    try object(at: try offset(number))
  }

  @inline(__always)
  func scalar(_ number: Int) throws(PropertyListFault) -> PropertyListScalar? {
    guard case .scalar(let scalar) = try object(number) else { return nil }
    return scalar
  }

  func object(at offset: Int) throws(PropertyListFault) -> Object {
    try checkSound(offset..<(offset &+ 1))
    let marker = base[offset]
    let low = Int(marker & 0xF)
    switch marker >> 4 {
    case 0x0:
      guard marker == 0x08 || marker == 0x09 else { break }
      return .scalar(.boolean(marker == 0x09))
    case 0x1: return .scalar(.integer(try integer(at: offset + 1, width: 1 << low, marker: offset)))
    case 0x2: return .scalar(.real(try real(at: offset + 1, exponent: low, marker: offset)))
    case 0x3 where low == 3: return .scalar(.date(try real(at: offset + 1, exponent: low, marker: offset)))
    case 0x4: return .scalar(.data(try payload(offset, low, width: 1)))
    case 0x5: return .scalar(.text(try ascii(offset, low)))
    case 0x6: return .scalar(.wideText(try payload(offset, low, width: 2)))
    case 0xA: return .array(References(bytes: try payload(offset, low, width: referenceWidth), width: referenceWidth))
    case 0xD: return try dictionary(offset, low)
    default: break
    }
    throw PropertyListFault(offset: offset, reason: "The object is of a kind that is not read.")
  }

  private func integer(at offset: Int, width: Int, marker: Int) throws(PropertyListFault) -> Int64 {
    let bytes = try bytes(at: offset, count: width)
    switch width {
    case 1: return Int64(bytes[0])
    case 2: return Int64(UInt16(bigEndian: bytes.loadUnaligned(as: UInt16.self)))
    case 4: return Int64(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
    case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    default: throw PropertyListFault(offset: marker, reason: "The number is too large.")
    }
  }

  private func real(at offset: Int, exponent: Int, marker: Int) throws(PropertyListFault) -> Double {
    switch exponent {
    case 2:
      let bits = UInt32(bigEndian: try bytes(at: offset, count: 4).loadUnaligned(as: UInt32.self))
      return Double(Float(bitPattern: bits))
    case 3:
      return Double(bitPattern: UInt64(bigEndian: try bytes(at: offset, count: 8).loadUnaligned(as: UInt64.self)))
    default: throw PropertyListFault(offset: marker, reason: "The number has a width that is not read.")
    }
  }

  @inline(__always)
  private func bytes(at offset: Int, count: Int) throws(PropertyListFault) -> UnsafeRawBufferPointer {
    guard count <= tableOffset &- offset else {
      throw PropertyListFault(offset: offset, reason: "The object goes beyond the end of the objects.")
    }
    try checkSound(offset..<(offset &+ count))
    return UnsafeRawBufferPointer(rebasing: base[offset..<(offset &+ count)])
  }

  private func ascii(_ offset: Int, _ low: Int) throws(PropertyListFault) -> UnsafeRawBufferPointer {
    let text = try payload(offset, low, width: 1)
    guard text.allSatisfy({ $0 < 0x80 }) else {
      throw PropertyListFault(offset: offset, reason: "The text has bytes that are not ASCII.")
    }
    return text
  }

  /// Returns the bytes of an object whose length is in its marker or in a number after it.
  @inline(__always)
  private func payload(_ offset: Int, _ low: Int, width: Int) throws(PropertyListFault) -> UnsafeRawBufferPointer {
    let (count, start) = try length(offset, low)
    guard count <= (tableOffset &- start) / width else {
      throw PropertyListFault(offset: offset, reason: "The object goes beyond the end of the objects.")
    }
    try checkSound(start..<(start &+ count &* width))
    return UnsafeRawBufferPointer(rebasing: base[start..<(start &+ count &* width)])
  }

  /// Returns the end of the object that begins at `offset`.
  func end(ofObjectAt offset: Int) throws(PropertyListFault) -> Int {
    let low = Int(base[offset] & 0xF)
    let bytes: UnsafeRawBufferPointer
    switch try object(at: offset) {
    case .scalar(.boolean): return offset + 1
    case .scalar(.integer), .scalar(.real), .scalar(.date): return offset + 1 + 1 << low
    case .scalar(.data(let payload)), .scalar(.text(let payload)), .scalar(.wideText(let payload)): bytes = payload
    case .array(let references): bytes = references.bytes
    case .dictionary(_, let values): bytes = values.bytes
    }
    guard bytes.count > 0, let start = bytes.baseAddress, let first = base.baseAddress else {
      return try length(offset, low).start
    }
    return start - first + bytes.count
  }

  @inline(__always)
  private func length(_ offset: Int, _ low: Int) throws(PropertyListFault) -> (count: Int, start: Int) {
    if low < 0xF { return (low, offset &+ 1) }
    let marker = try bytes(at: offset + 1, count: 1)[0]
    guard marker >> 4 == 1, marker & 0xF <= 3 else {
      throw PropertyListFault(offset: offset, reason: "The length of the object is not a number.")
    }
    let width = 1 << Int(marker & 0xF)
    let count = try integer(at: offset + 2, width: width, marker: offset)
    guard count >= 0, let count = Int(exactly: count) else {
      throw PropertyListFault(offset: offset, reason: "The length of the object is negative.")
    }
    return (count, offset &+ 2 &+ width)
  }

  private func dictionary(_ offset: Int, _ low: Int) throws(PropertyListFault) -> Object {
    let all = try payload(offset, low, width: referenceWidth * 2)
    let half = all.count / 2
    return .dictionary(
      keys: References(bytes: UnsafeRawBufferPointer(rebasing: all[..<half]), width: referenceWidth),
      values: References(bytes: UnsafeRawBufferPointer(rebasing: all[half...]), width: referenceWidth)
    )
  }
}

// MARK: Trees

extension BinaryPropertyList {
  /// Limits the cost of a tree of values, so that reading one whose parts refer to each other many times ends.
  private struct Budget {
    var depth = 0
    var bytes: Int
  }

  private static let leastBudget = 64 << 20
  /// The cost that each byte of the file allows: of the values that are written here, booleans cost the most for their
  /// bytes, 40 for 9 if there are many.
  private static let expansion = 8
  private static let greatestDepth = 64
  private static let valueCost = 32

  /// Returns an object with everything in it; for small parts of a file.
  func value(_ number: Int) throws(PropertyListFault) -> MetadataValue {
    var budget = Budget(bytes: max(Self.leastBudget, slice.count * Self.expansion))
    guard let value = PropertyListWrapping.unwrapped(try value(number, &budget)) else {
      throw PropertyListFault(
        offset: try offset(number),
        reason: "A dictionary with a key that Heartwood reserves has the wrong form."
      )
    }
    return value
  }

  private func value(_ number: Int, _ budget: inout Budget) throws(PropertyListFault) -> MetadataValue {
    let offset = try offset(number)
    budget.bytes -= Self.valueCost
    guard budget.depth < Self.greatestDepth, budget.bytes > 0 else {
      throw PropertyListFault(offset: offset, reason: "The values are nested too deep, or refer to each other.")
    }
    budget.depth += 1
    defer { budget.depth -= 1 }
    switch try object(at: offset) {
    case .scalar(let scalar):
      budget.bytes -= scalar.byteCount
      guard let value = scalar.value else { throw PropertyListFault(offset: offset, reason: "The text is not UTF-16.") }
      return value
    case .array(let references):
      var values: [MetadataValue] = []
      for index in 0..<references.count { values.append(try value(references[index], &budget)) }
      return .array(values)
    case .dictionary(let keys, let references):
      var members: [String: MetadataValue] = [:]
      for index in 0..<keys.count {
        guard let key = try key(keys[index], &budget), members[key] == nil else {
          throw PropertyListFault(offset: offset, reason: "A key is not text, or occurs twice.")
        }
        members[key] = try value(references[index], &budget)
      }
      return .dictionary(members)
    }
  }

  /// Returns the text of a key, which is copied for each dictionary that has it; nil if the object is none.
  private func key(_ number: Int, _ budget: inout Budget) throws(PropertyListFault) -> String? {
    guard let scalar = try scalar(number) else { return nil }
    budget.bytes -= scalar.byteCount
    guard budget.bytes > 0 else {
      throw PropertyListFault(
        offset: try offset(number),
        reason: "The values take far more memory than the file has bytes."
      )
    }
    return try key(number)
  }

  /// Returns the text of a key, or nil if the object is none.
  func key(_ number: Int) throws(PropertyListFault) -> String? {
    guard let scalar = try scalar(number) else { return nil }
    if case .data = scalar { return nil }
    return scalar.string
  }

  /// Returns the member of a dictionary under a key, or nil if there is none.
  func member(_ key: String, of keys: References, _ values: References) throws(PropertyListFault) -> Int? {
    for index in 0..<keys.count where try self.key(keys[index]) == key { return values[index] }
    return nil
  }
}

// MARK: A damaged table

extension BinaryPropertyList {
  /// The fault of a table that says other places of objects than those where they were found.
  var tableFault: PropertyListFault {
    PropertyListFault(
      offset: objectsEnd,
      reason: "The table of the objects is damaged. They were taken one after the other."
    )
  }

  /// Returns the same list with its objects at other offsets than its table says.
  func replacingTable(by offsets: [Int]) -> BinaryPropertyList {
    BinaryPropertyList(
      slice,
      objectsAt: offsets,
      end: objectsEnd,
      root: root,
      referenceWidth: referenceWidth,
      unsoundRanges: unsoundRanges
    )
  }

  /// Returns the offsets of objects that lie one after the other from the beginning on, and the end of the last one.
  ///
  /// - Parameter next: returns the end of the object at an offset, which gets a number; nil if there is none.
  func consecutiveObjects(
    before end: Int,
    next: (_ offset: Int, _ number: Int) -> Int?
  ) -> (offsets: [Int], end: Int) {
    var (offsets, position): ([Int], Int) = ([], Self.headerLength)
    while position < end, let next = next(position, offsets.count), next <= end {
      offsets.append(position)
      position = next
    }
    return (offsets, position)
  }
}
