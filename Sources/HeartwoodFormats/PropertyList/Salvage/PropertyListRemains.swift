import HeartwoodStore

/// The objects of a binary property list that may be damaged: found by its own table if that is valid, or else one
/// after the other in the order of the file.
struct PropertyListRemains {
  private static let referenceWidths = [1, 2, 4, 8, 3]

  let list: BinaryPropertyList
  /// The fault of the table of objects; nil if it is valid.
  let fault: PropertyListFault?

  /// - Throws: ``PropertyListFault`` if no object can be found.
  init(_ slice: ByteSlice, unsoundRanges: [Range<Int>]) throws(PropertyListFault) {
    do throws(PropertyListFault) {
      let list = try BinaryPropertyList(slice, unsoundRanges: unsoundRanges)
      guard let offsets = Self.otherOffsets(list) else {
        self.list = list
        fault = nil
        return
      }
      self.list = list.replacingTable(by: offsets)
      fault = list.tableFault
    } catch {
      guard let found = Self.found(slice, unsoundRanges) else { throw error }
      list = found
      fault = error
    }
  }

  /// Returns the offsets of the objects, if they differ from some in the table: the objects that were found lie one
  /// after the other and fill the file.
  private static func otherOffsets(_ list: BinaryPropertyList) -> [Int]? {
    let (offsets, end) = objects(in: list, before: list.objectsEnd)
    guard end == list.objectsEnd, offsets.count == list.objectCount else { return nil }
    let known = offsets.indices.map { try? list.offset($0) }
    let wrongCount = zip(offsets, known).count { $0 != $1 }
    // Other programs than Heartwood may write objects in another order.
    guard wrongCount > 0, wrongCount <= offsets.count / 2, Set(known) != Set(offsets) else { return nil }
    return offsets
  }

  /// Returns the objects of a file whose table is missing. The width of references is the one with which most can be
  /// read.
  private static func found(_ slice: ByteSlice, _ unsoundRanges: [Range<Int>]) -> BinaryPropertyList? {
    guard slice.count > BinaryPropertyList.headerLength, slice.unsafeBytes.starts(with: PropertyListFormat.binaryMagic)
    else { return nil }
    var best: (list: BinaryPropertyList, end: Int)?
    for width in referenceWidths {
      func list(_ offsets: [Int], _ root: Int) -> BinaryPropertyList {
        BinaryPropertyList(
          slice,
          objectsAt: offsets,
          end: slice.count,
          root: root,
          referenceWidth: width,
          unsoundRanges: unsoundRanges
        )
      }
      let (offsets, end) = objects(in: list([], -1), before: slice.count)
      guard end > best?.end ?? BinaryPropertyList.headerLength else { continue }
      let all = list(offsets, -1)
      let root = offsets.indices.last { isRoot($0, of: all) } ?? -1
      best = (list(root < 0 ? offsets : Array(offsets[...root]), root), end)
    }
    return best?.list
  }

  /// Returns the offsets of objects that lie one after the other and refer only to those before them, as Heartwood
  /// writes them, and the end of the last one.
  private static func objects(in list: BinaryPropertyList, before end: Int) -> (offsets: [Int], end: Int) {
    list.consecutiveObjects(before: end) { offset, number in
      refersBack(list, offset, number) ? try? list.end(ofObjectAt: offset) : nil
    }
  }

  private static func refersBack(_ list: BinaryPropertyList, _ offset: Int, _ number: Int) -> Bool {
    func areBefore(_ references: BinaryPropertyList.References) -> Bool {
      (0..<references.count).allSatisfy { (0..<number).contains(references[$0]) }
    }
    switch try? list.object(at: offset) {
    case .scalar: return true
    case .array(let references): return areBefore(references)
    case .dictionary(let keys, let values): return areBefore(keys) && areBefore(values)
    case nil: return false
    }
  }

  private static func isRoot(_ number: Int, of list: BinaryPropertyList) -> Bool {
    guard case .dictionary(let keys, let values)? = try? list.object(number),
      let records = try? list.member(PropertyListFormat.recordsKey, of: keys, values),
      (try? list.member(PropertyListFormat.versionKey, of: keys, values)) != nil,
      case .dictionary? = try? list.object(records)
    else { return false }
    return true
  }
}

// MARK: What is not a record

extension PropertyListRemains {
  /// The parts of the file other than its records, as far as they can be read.
  var header: PropertyListHeader {
    if list.root >= 0 {
      if let header = try? BinaryPropertyListReader.header(of: list) { return header }
      return partialHeader
    }
    return headerBeforeRecords
  }

  /// The members of a root of which one cannot be read.
  private var partialHeader: PropertyListHeader {
    guard case .dictionary(let keys, let values)? = try? list.object(list.root) else { return headerBeforeRecords }
    var header = PropertyListHeader()
    for index in 0..<keys.count {
      guard let key = try? list.key(keys[index]), let value = try? list.value(values[index]) else { continue }
      switch key {
      case PropertyListFormat.versionKey: header.version = value
      case PropertyListFormat.metadataKey: header.metadata = value
      case PropertyListFormat.modelKey: header.model = value
      default: break
      }
    }
    return header
  }

  /// The parts that Heartwood writes before the records, each value after its key, if the root is missing.
  private var headerBeforeRecords: PropertyListHeader {
    var header = PropertyListHeader()
    func place(_ key: String) -> Int? {
      (0..<list.objectCount).first { (try? list.key($0)) == key }
    }
    if let version = place(PropertyListFormat.versionKey) { header.version = try? list.value(version + 1) }
    if let model = place(PropertyListFormat.modelKey) {
      header.metadata = try? list.value(model - 1)
      header.model = try? list.value(model + 1)
    }
    return header
  }
}
