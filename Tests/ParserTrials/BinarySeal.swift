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

  /// Where the slots are, in files that saves were added to.
  private static let slots = [4096, 8192]

  private var bytes: [UInt8]
  /// The end of the part that was written as a whole.
  private let baseEnd: Int
  private let hasLog: Bool

  static func sealed(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.count >= headerLength + trailerLength else { return bytes }
    var seal = BinarySeal(bytes)
    seal.sealSections()
    seal.sealBlocks()
    if seal.hasLog { seal.sealSaves() }
    return seal.bytes
  }

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
    let isLong = bytes.count >= 12_288 && bytes[12] >= 4 && bytes[32] & 2 != 0
    let ends = (isLong ? Self.slots : []).map { slot in
      bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: slot + 24, as: UInt64.self)) }
    }
    let baseEnd = ends.lazy.compactMap { Int(exactly: $0) }.first {
      (12_288 + 64...max(12_352, bytes.count)).contains($0)
    }
    hasLog = baseEnd.map { $0 <= bytes.count } ?? false
    self.baseEnd = hasLog ? baseEnd ?? bytes.count : bytes.count
  }

  /// The saves that were added, as far as their lengths fit the file, and the slots, which name the last of them.
  private mutating func sealSaves() {
    var (number, chain, place) = (UInt64(0), self.number(at: baseEnd - Self.trailerLength + 16), baseEnd)
    while place + 64 <= bytes.count, bytes[place..<place + 4].elementsEqual([0x89, 0x48, 0x57, 0x4C]),
      let length = Int(exactly: self.number(at: place + 16)), let body = Int(exactly: self.number(at: place + 24)),
      body >= 0, length >= 64, body <= length - 64, length <= bytes.count - place
    {
      number += 1
      set(number, at: place + 8)
      set(hash(place + 64..<place + 64 + body), at: place + 32)
      set(chain, at: place + 40)
      chain = hash(place..<place + 56)
      set(chain, at: place + 56)
      place += length
    }
    for slot in Self.slots {
      set(number, at: slot + 8)
      set(UInt64(place), at: slot + 16)
      set(UInt64(baseEnd), at: slot + 24)
      set(chain, at: slot + 32)
      set(hash(slot..<slot + 56), at: slot + 56)
    }
  }

  /// The directory, where the trailer says that it is, if that is in the file.
  private var directory: Range<Int>? {
    let trailer = baseEnd - Self.trailerLength
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
    let trailer = baseEnd - Self.trailerLength
    if let directory { set(hash(directory), at: trailer + 16) }
    set(UInt64(baseEnd), at: trailer + 24)
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
