import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// The parts of a file that may be damaged: its records and its metadata, as far as they can be found.
struct CoreDataBinaryRemains {
  /// The most places at which an archive is looked for.
  private static let mostCandidates = 64

  private(set) var header = CoreDataBinaryHeader()
  private(set) var members: [String: MetadataValue] = [:]
  private(set) var foreignMembers: [String: Data] = [:]
  /// The archive of the records; nil if there is nothing left of it.
  private(set) var archive: ArchivedObjects?
  /// What is wrong with the parts.
  private(set) var faults: [PersistenceError] = []

  private let path: String
  private let region: ByteRegion
  private let unsoundRanges: [Range<Int>]

  init(_ file: StoreInput, unsoundRanges: [Range<Int>] = []) throws(PersistenceError) {
    path = file.path
    region = try file.file.mapped().region
    self.unsoundRanges = unsoundRanges
    var isWhole = true
    do throws(PersistenceError) {
      header = try CoreDataBinaryHeader(file)
    } catch {
      isWhole = false
      faults.append(error)
    }
    let size = region.unsafeBytes.count
    let metadata = findMetadata(isWhole ? header.metadata : nil, size)
    let start = min(CoreDataBinaryHeader.length, size)
    let records = isWhole ? header.records : start..<max(start, metadata ?? size)
    findRecords(records)
  }

  /// The identifier in the metadata; nil if it is lost.
  var identifier: UUID? {
    guard case .string(let text)? = members[CoreDataBinaryWords.identifier] else { return nil }
    return UUID(uuidString: text)
  }

  // MARK: Metadata

  /// Reads the metadata at its place, or else looks for it from the end of the file.
  ///
  /// - Returns: the offset of the metadata; nil if they are lost.
  private mutating func findMetadata(_ range: Range<Int>?, _ size: Int) -> Int? {
    var fault: PropertyListFault?
    if let range {
      do throws(PropertyListFault) {
        try readMetadata(range)
        return range.lowerBound
      } catch {
        fault = PropertyListFault(offset: range.lowerBound + error.offset, reason: error.reason)
      }
    }
    for offset in archiveOffsets(size) where offset != range?.lowerBound {
      // try?: another archive is tried, and the fault of the first one is noted if none can be read.
      if (try? readMetadata(offset..<size)) != nil { return offset }
    }
    let reason = fault.map { "\($0.reason)" } ?? "The metadata are missing."
    faults.append(CoreDataBinaryHead.malformed(reason, at: fault?.offset ?? size, path))
    return nil
  }

  private mutating func readMetadata(_ range: Range<Int>) throws(PropertyListFault) {
    guard !unsoundRanges.overlaps(range) else {
      throw PropertyListFault(offset: 0, reason: "Bytes of the metadata were changed or are missing.")
    }
    (members, foreignMembers) = try CoreDataBinaryHead.members(of: try ArchivedObjects(region, in: range))
  }

  /// Returns the offsets at which archives may begin, the last ones first.
  private func archiveOffsets(_ size: Int) -> [Int] {
    let (bytes, magic) = (region.unsafeBytes, PropertyListFormat.binaryMagic)
    var offsets: [Int] = []
    var offset = size - magic.count
    while offset > CoreDataBinaryHeader.length, offsets.count < Self.mostCandidates {
      if bytes[offset...].starts(with: magic) { offsets.append(offset) }
      offset -= 1
    }
    return offsets
  }

  // MARK: Records

  private mutating func findRecords(_ range: Range<Int>) {
    guard let slice = ByteSlice(region, offset: range.lowerBound, count: range.count) else { return }
    let unsound = unsoundRanges.map { ($0.lowerBound - range.lowerBound)..<($0.upperBound - range.lowerBound) }
    do throws(PropertyListFault) {
      let (archive, fault) = try ArchivedObjects.remains(slice, start: range.lowerBound, unsoundRanges: unsound)
      self.archive = archive
      if let fault { note(fault, range.lowerBound) }
    } catch {
      note(error, range.lowerBound)
    }
  }

  private mutating func note(_ fault: PropertyListFault, _ start: Int) {
    faults.append(CoreDataBinaryHead.malformed("\(fault.reason)", at: start + fault.offset, path))
  }
}

// MARK: ArchivedObjects: remains

extension ArchivedObjects {
  private static let referenceWidths = [2, 1, 4, 3, 8]

  /// Returns an archive that may be damaged. If the table of its objects is missing or wrong, they are taken one after
  /// the other, which is how every writer of archives arranges them.
  ///
  /// - Returns: the archive, and the fault of its table; nil if it is valid.
  /// - Throws: ``PropertyListFault`` if the list of the archived objects is lost, without which no reference can be
  ///   followed.
  static func remains(
    _ slice: ByteSlice,
    start: Int,
    unsoundRanges: [Range<Int>]
  ) throws(PropertyListFault) -> (archive: ArchivedObjects, fault: PropertyListFault?) {
    var fault: PropertyListFault
    do throws(PropertyListFault) {
      let list = try BinaryPropertyList(slice, unsoundRanges: unsoundRanges)
      if let offsets = otherOffsets(list) {
        fault = list.tableFault
        return (try ArchivedObjects(remainsOf: list.replacingTable(by: offsets), start: start), fault)
      }
      return (try ArchivedObjects(remainsOf: list, start: start), nil)
    } catch {
      fault = error
    }
    for list in scanned(slice, unsoundRanges) {
      // try?: the objects are looked for with another width of references.
      if let archive = try? ArchivedObjects(remainsOf: list, start: start) { return (archive, fault) }
    }
    throw fault
  }

  /// Returns the offsets of the objects, if a few of those in the table differ from them.
  private static func otherOffsets(_ list: BinaryPropertyList) -> [Int]? {
    let (offsets, end) = offsets(in: list, before: list.objectsEnd)
    guard end == list.objectsEnd, offsets.count == list.objectCount else { return nil }
    // try?: a place that cannot be read is a wrong one.
    let wrong = offsets.indices.count { (try? list.offset($0)) != offsets[$0] }
    return wrong > 0 && wrong <= offsets.count / 2 ? offsets : nil
  }

  /// Returns the lists that the bytes may be, for each width of references: the longest first.
  private static func scanned(_ slice: ByteSlice, _ unsoundRanges: [Range<Int>]) -> [BinaryPropertyList] {
    guard slice.count > BinaryPropertyList.headerLength, slice.unsafeBytes.starts(with: PropertyListFormat.binaryMagic)
    else { return [] }
    let lists = referenceWidths.map { width in
      func list(_ offsets: [Int]) -> BinaryPropertyList {
        BinaryPropertyList(
          slice,
          objectsAt: offsets,
          end: slice.count,
          root: 0,
          referenceWidth: width,
          unsoundRanges: unsoundRanges
        )
      }
      let (offsets, end) = offsets(in: list([]), before: slice.count)
      return (list: list(offsets), end: end)
    }
    return lists.sorted { $0.end > $1.end }.map(\.list)
  }

  /// Returns the offsets of the objects that lie one after the other, and the end of the last one.
  private static func offsets(in list: BinaryPropertyList, before end: Int) -> (offsets: [Int], end: Int) {
    list.consecutiveObjects(before: end) { offset, _ in list.end(ofArchivedObjectAt: offset) }
  }
}

extension BinaryPropertyList {
  /// Returns the end of an object that may be a null or a reference; nil if there is none.
  fileprivate func end(ofArchivedObjectAt offset: Int) -> Int? {
    let marker = slice.unsafeBytes[offset]
    if marker == 0 { return offset + 1 }
    if marker >> 4 == 8 { return offset + 2 + Int(marker & 0xF) }
    // try?: it is where the objects end.
    return try? end(ofObjectAt: offset)
  }
}
