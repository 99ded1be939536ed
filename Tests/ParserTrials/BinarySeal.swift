import HeartwoodFormats
import HeartwoodStore

/// Gives changed bytes of a binary file checksums that hold, so that what is behind the checksums is read too.
struct BinarySeal {
  private static let headerLength = 64
  private static let trailerLength = 64
  private static let sectionEntryLength = 24
  /// Where each fixed block keeps the checksum of what is before it.
  private static let headerChecksum = 56
  private static let trailerChecksum = 48

  private var bytes: [UInt8]

  static func sealed(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.count >= headerLength + trailerLength else { return bytes }
    var seal = BinarySeal(bytes: bytes)
    seal.sealSections()
    seal.sealBlocks()
    return seal.bytes
  }

  /// The directory, where the trailer says that it is, if that is in the file.
  private var directory: Range<Int>? {
    let trailer = bytes.count - Self.trailerLength
    return range(offset: number(at: trailer), length: number(at: trailer + 8), before: trailer)
  }

  private mutating func sealSections() {
    guard let directory, directory.count >= 4 else { return }
    var place = directory.lowerBound + 8
    var isFirst = true
    while place + Self.sectionEntryLength <= directory.upperBound {
      // The entries end where a section would be nowhere.
      guard let section = range(offset: number(at: place), length: number(at: place + 8), before: directory.lowerBound)
      else { return }
      if isFirst, bytes[12] >= 3 {
        sealCopies(in: section)
      } else {
        set(hash(section), at: place + 16)
      }
      isFirst = false
      place += Self.sectionEntryLength
    }
  }

  /// The two copies of the metadata.
  private mutating func sealCopies(in section: Range<Int>) {
    let capacity = (section.count - 64) / 2
    guard capacity >= 64 else { return }
    for copy in 0..<2 {
      let start = section.lowerBound + 64 + copy * capacity
      set(hash(start + 8..<start + capacity), at: start)
    }
  }

  private mutating func sealBlocks() {
    let trailer = bytes.count - Self.trailerLength
    if let directory { set(hash(directory), at: trailer + 16) }
    set(UInt64(bytes.count), at: trailer + 24)
    set(hash(trailer..<trailer + Self.trailerChecksum), at: trailer + Self.trailerChecksum)
    set(hash(0..<Self.headerChecksum), at: Self.headerChecksum)
  }

  private func range(offset: UInt64, length: UInt64, before end: Int) -> Range<Int>? {
    guard let start = Int(exactly: offset), let length = Int(exactly: length), start >= Self.headerLength,
      start <= end, length <= end - start
    else { return nil }
    return start..<start + length
  }

  private func hash(_ range: Range<Int>) -> UInt64 {
    bytes[range].withUnsafeBytes { XXH64.hash($0) }
  }

  private func number(at place: Int) -> UInt64 {
    bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: place, as: UInt64.self)) }
  }

  private mutating func set(_ number: UInt64, at place: Int) {
    withUnsafeBytes(of: number.littleEndian) { bytes.replaceSubrange(place..<place + 8, with: $0) }
  }
}
