import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// The remains of a file that may be damaged: its directory, which contains the places of the other parts, and the
/// faults of the parts other than records.
///
/// Without a directory, the places and the checksums of values are unknown.
struct BinaryRemains {
  let file: BinaryFile
  /// Whether the checksum of the directory is right. If not, it is used if all of it is consistent.
  private(set) var isDirectorySound = false
  private(set) var losses: [SalvageReport.Loss] = []
  /// The header, if its checksum is right.
  private let header: BinaryHeader?

  /// - Throws: ``PersistenceError/Code/fileCorrupt`` if there is no directory, and an error if the file is no binary store.
  init(_ input: StoreInput) throws(PersistenceError) {
    let fault = BinaryFault(path: input.path)
    let region = try input.file.mapped().region
    let bytes = region.unsafeBytes
    var losses: [SalvageReport.Loss] = []
    let header = try Self.header(bytes, fault, &losses)
    let front = BinaryFront(bytes, header)
    guard let found = Self.directory(bytes, header, front, fault, &losses) else {
      throw fault.corrupt(
        "the directory at its end, which contains the positions of the values, is missing or changed, so nothing can be salvaged",
        at: bytes.count
      )
    }
    self.header = header
    isDirectorySound = found.isSound
    self.losses = losses
    file = BinaryFile(
      region: region,
      header: header
        ?? BinaryHeader(
          storeIdentifier: UUID(),
          hasHistory: found.directory.history != nil,
          hasLog: front.firstSectionOffset == BinarySlot.frontLength
        ),
      directory: found.directory,
      metadataArea: nil,
      log: Self.log(found, front, region, &self.losses),
      fault: fault
    )
  }

  /// Returns the header; nil if it is damaged. A file of another kind, or one that is for newer readers, is refused.
  private static func header(
    _ bytes: UnsafeRawBufferPointer,
    _ fault: BinaryFault,
    _ losses: inout [SalvageReport.Loss]
  ) throws(PersistenceError) -> BinaryHeader? {
    do throws(PersistenceError) {
      return try BinaryHeader(bytes, fault: fault)
    } catch {
      guard error.code == .fileCorrupt || error.code == .fileMalformed, !bytes.starts(with: BinaryFormat.coreDataMagic)
      else { throw error }
      losses.append(.init(.fileParts, error, count: 0, byteRange: 0..<min(BinaryFormat.headerLength, bytes.count)))
      return nil
    }
  }
}

// MARK: The directory

extension BinaryRemains {
  private typealias Found = (directory: BinaryDirectory, section: BinarySection, isSound: Bool)

  private static func directory(
    _ file: UnsafeRawBufferPointer,
    _ header: BinaryHeader?,
    _ front: BinaryFront,
    _ fault: BinaryFault,
    _ losses: inout [SalvageReport.Loss]
  ) -> Found? {
    let bytes = UnsafeRawBufferPointer(rebasing: file[..<front.baseEnd])
    let trailerStart = max(0, bytes.count - BinaryFormat.trailerLength)
    do throws(PersistenceError) {
      let section = try BinaryTrailer(bytes, fault: fault).directory
      guard let found = decoded(bytes, section, header, front, fault) else { return nil }
      if isSound(section, in: bytes) { return (found.directory, section, true) }
      losses.append(unsound(section))
      return (found.directory, section, false)
    } catch {
      losses.append(.init(.fileParts, error, count: 0, byteRange: trailerStart..<bytes.count))
      return searched(bytes, header, front, fault, &losses)
    }
  }

  /// Returns the saves that were added to the file, up to the first that is damaged; nil if none can be, or if the
  /// directory, on which they build, is damaged.
  private static func log(
    _ found: Found,
    _ front: BinaryFront,
    _ region: ByteRegion,
    _ losses: inout [SalvageReport.Loss]
  ) -> BinaryLog? {
    let bytes = region.unsafeBytes
    guard front.firstSectionOffset == BinarySlot.frontLength else { return nil }
    let baseEnd = found.section.end + BinaryFormat.trailerLength
    let checksum = XXH64.hash(UnsafeRawBufferPointer(rebasing: bytes[found.section.range]))
    let log = found.isSound ? BinaryLog(baseEnd: baseEnd, directoryChecksum: checksum, in: ByteSlice(region)) : nil
    let end = log?.newest.end ?? baseEnd
    let lost = front.slot.map { $0.number - min($0.number, log?.newest.number ?? 0) } ?? 0
    if lost > 0 {
      losses.append(
        .init(
          .fileParts,
          count: 0,
          byteRange: end..<max(end, bytes.count),
          reason: "The last \(lost) saves are damaged or missing: the records are as they were before these."
        )
      )
    }
    return log
  }

  private static func unsound(_ section: BinarySection) -> SalvageReport.Loss {
    .init(
      .fileParts,
      count: 0,
      byteRange: section.range,
      reason:
        "The checksum of the directory does not hold. Its contents were used as far as they fit the model and the values."
    )
  }

  /// Searches for a directory, starting at the end of the file. The sections in it must fill all bytes before it.
  private static func searched(
    _ bytes: UnsafeRawBufferPointer,
    _ header: BinaryHeader?,
    _ front: BinaryFront,
    _ fault: BinaryFault,
    _ losses: inout [SalvageReport.Loss]
  ) -> Found? {
    let first = UInt64(front.firstSectionOffset)
    let last = (bytes.count - 1) / BinaryFormat.alignment * BinaryFormat.alignment
    for offset in stride(from: last, to: front.firstSectionOffset, by: -BinaryFormat.alignment)
    where offset + 16 <= bytes.count {
      let begins = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
      guard begins == first else { continue }
      let rest = BinarySection(offset: offset, length: bytes.count - offset, checksum: 0)
      guard let found = decoded(bytes, rest, header, front, fault, isLengthKnown: false) else { continue }
      let section = BinarySection(offset: offset, length: found.length, checksum: 0)
      if hasTrailer(section, in: bytes, fault) { return (found.directory, section, true) }
      losses.append(unsound(section))
      return (found.directory, section, false)
    }
    return nil
  }

  /// Returns whether a valid trailer follows the directory, so that bytes were only added to the file.
  private static func hasTrailer(
    _ section: BinarySection,
    in bytes: UnsafeRawBufferPointer,
    _ fault: BinaryFault
  ) -> Bool {
    let end = section.end + BinaryFormat.trailerLength
    guard end <= bytes.count,
      let trailer = try? BinaryTrailer(UnsafeRawBufferPointer(rebasing: bytes[..<end]), fault: fault)
    else { return false }
    return trailer.directory.range == section.range && isSound(trailer.directory, in: bytes)
  }

  private static func decoded(
    _ bytes: UnsafeRawBufferPointer,
    _ section: BinarySection,
    _ header: BinaryHeader?,
    _ front: BinaryFront,
    _ fault: BinaryFault,
    isLengthKnown: Bool = true
  ) -> (directory: BinaryDirectory, length: Int)? {
    for hasHistory in header.map({ [$0.hasHistory] }) ?? [false, true] {
      var decoder = BinaryDirectoryDecoder(
        bytes,
        section: section,
        hasHistory: hasHistory,
        firstOffset: front.firstSectionOffset,
        isLengthKnown: isLengthKnown,
        fault: fault
      )
      // Bytes that cannot be decoded are no directory.
      if let directory = try? decoder.decode() { return (directory, decoder.consumedCount) }
    }
    return nil
  }

  static func isSound(_ section: BinarySection, in bytes: UnsafeRawBufferPointer) -> Bool {
    XXH64.hash(UnsafeRawBufferPointer(rebasing: bytes[section.range])) == section.checksum
  }
}

/// What the front of a damaged file says about its parts.
private struct BinaryFront {
  let firstSectionOffset: Int
  /// The newest save that is named; nil if none is.
  let slot: BinarySlot?
  /// The end of the part that was written as a whole; that of the file if it is unknown.
  let baseEnd: Int

  init(_ bytes: UnsafeRawBufferPointer, _ header: BinaryHeader?) {
    let slot = BinarySlot.slots(in: bytes).max { $0.number < $1.number }
    let hasLog = header?.hasLog ?? (slot != nil)
    firstSectionOffset = hasLog ? BinarySlot.frontLength : BinaryFormat.headerLength
    self.slot = hasLog ? slot : nil
    let ends = BinarySlot.frontLength...max(BinarySlot.frontLength, bytes.count)
    baseEnd = self.slot.map(\.baseEnd).flatMap { ends.contains($0) && $0 <= bytes.count ? $0 : nil } ?? bytes.count
  }
}

extension BinarySection {
  /// The range of the bytes without the zeros after them.
  var range: Range<Int> { offset..<(offset + length) }
}

// MARK: What surrounds the records

extension BinaryRemains {
  func isSound(section index: Int) -> Bool {
    Self.isSound(file.directory.sections[index], in: file.region.unsafeBytes)
  }

  /// Returns the metadata, as far as it can be read.
  mutating func metadata() -> StoreMetadata {
    let section = file.directory.sections[BinaryFormat.metadataSection]
    let bytes = UnsafeRawBufferPointer(rebasing: file.region.unsafeBytes[section.range])
    var texts = BinaryMetadataArea.soundTexts(bytes)
    if texts.isEmpty, isSound(section: BinaryFormat.metadataSection) { texts = [Data(bytes)] }
    let isWhole = (try? BinaryMetadataArea(bytes, offset: section.offset, fault: file.fault)) != nil
    for metadata in texts.compactMap({ StoreMetadata(json: $0) }) {
      if !isWhole, header?.hasMetadataArea ?? true {
        note(
          section,
          "One of the two copies of the metadata, or the bytes around it, are changed; the other copy was used."
        )
      }
      return metadata
    }
    note(section, "The metadata cannot be read: what the application kept there is lost.")
    return StoreMetadata(identifier: file.header.storeIdentifier, storeType: .binary)
  }

  /// Returns the model that the records were written with; nil if it is damaged.
  mutating func model() -> ManagedObjectModel? {
    if isSound(section: BinaryFormat.modelSection), let model = try? file.model() { return model }
    note(file.directory.sections[BinaryFormat.modelSection], "The model in the file cannot be read.")
    return nil
  }

  /// Returns the history after the last page that is damaged.
  mutating func history() -> StoreHistory? {
    let added = file.log?.historyPage(file)
    guard let entry = file.directory.history else {
      // try?: a single page has numbers from 1 on.
      return added.flatMap { try? StoreHistory(purgedNumber: 0, pages: [$0]) }
    }
    let sections = entry.transactionCounts.indices.map { entry.firstSection + $0 }
    let lostCount = isDirectorySound ? (sections.lastIndex { !isPage($0, entry) }.map { $0 + 1 } ?? 0) : sections.count
    let lost = entry.transactionCounts.prefix(lostCount).reduce(0, +)
    if lostCount > 0 {
      let range = file.directory.sections[sections[0]].offset..<file.directory.sections[sections[lostCount - 1]].end
      losses.append(
        .init(
          .fileParts,
          count: 0,
          byteRange: range,
          reason: "The history before it was damaged, \(lost) transactions, is lost."
        )
      )
    }
    guard isDirectorySound else { return nil }
    let pages = sections.dropFirst(lostCount).enumerated().map { place, section in
      let count = entry.transactionCounts[lostCount + place]
      return HistoryPage(
        file.bytes(ofSection: section),
        transactionCount: count,
        verifier: BinaryHistoryVerifier(file: file, section: section, transactionCount: count)
      )
    }
    return try? StoreHistory(purgedNumber: entry.purgedNumber + Int64(lost), pages: added.map { pages + [$0] } ?? pages)
  }

  private func isPage(_ section: Int, _ entry: BinaryDirectory.History) -> Bool {
    let count = entry.transactionCounts[section - entry.firstSection]
    let verifier = BinaryHistoryVerifier(file: file, section: section, transactionCount: count)
    return (try? verifier.verify()) != nil
  }

  /// Notes bytes between sections that are not zero; they were written as zeros.
  mutating func notePadding() {
    for section in file.directory.sections {
      let padding = section.range.upperBound..<section.end
      guard padding.contains(where: { file.region.unsafeBytes[$0] != 0 }) else { continue }
      losses.append(
        .init(
          .fileParts,
          count: 0,
          byteRange: padding,
          reason: "Bytes between two parts of the file are changed. They mean nothing."
        )
      )
    }
  }

  private mutating func note(_ section: BinarySection, _ reason: String) {
    losses.append(.init(.fileParts, count: 0, byteRange: section.range, reason: reason))
  }
}
