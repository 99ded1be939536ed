import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// A file whose header, trailer, directory, metadata and model have been checked. The records have not.
struct BinaryFile: Sendable {
  /// The bytes of the file, in which the records are used in place.
  let region: ByteRegion
  let header: BinaryHeader
  let directory: BinaryDirectory
  /// The area in which the metadata can be overwritten; nil in files of older versions.
  let metadataArea: BinaryMetadataArea?
  /// The saves that were added to the file; nil if none can be.
  let log: BinaryLog?
  let fault: BinaryFault

  /// Makes a file of which only these parts are known to be valid.
  init(
    region: ByteRegion,
    header: BinaryHeader,
    directory: BinaryDirectory,
    metadataArea: BinaryMetadataArea?,
    log: BinaryLog?,
    fault: BinaryFault
  ) {
    self.region = region
    self.header = header
    self.directory = directory
    self.metadataArea = metadataArea
    self.log = log
    self.fault = fault
  }

  init(_ input: StoreInput) throws(PersistenceError) {
    fault = BinaryFault(path: input.path)
    region = try input.file.mapped().region
    let bytes = region.unsafeBytes
    header = try BinaryHeader(bytes, fault: fault)
    let slot = header.hasLog ? try BinarySlot.newest(in: bytes, input, fault) : nil
    let base = UnsafeRawBufferPointer(rebasing: bytes[..<(slot?.baseEnd ?? bytes.count)])
    let section = try BinaryTrailer(base, fault: fault).directory
    try Self.check(section, "the directory", in: bytes, fault)
    var decoder = BinaryDirectoryDecoder(
      bytes,
      section: section,
      hasHistory: header.hasHistory,
      firstOffset: header.firstSectionOffset,
      fault: fault
    )
    directory = try decoder.decode()
    if let slot {
      log = try BinaryLog(slot, directoryChecksum: section.checksum, in: ByteSlice(region), input, fault)
    } else {
      log = nil
    }
    let metadata = directory.sections[BinaryFormat.metadataSection]
    metadataArea = header.hasMetadataArea ? try Self.metadataArea(metadata, in: bytes, fault) : nil
    if metadataArea == nil { try Self.check(metadata, "the metadata", in: bytes, fault) }
    try check(section: BinaryFormat.modelSection, "the model")
  }

  /// The area has checksums of its own, which are not in the directory.
  private static func metadataArea(
    _ section: BinarySection,
    in file: UnsafeRawBufferPointer,
    _ fault: BinaryFault
  ) throws(PersistenceError) -> BinaryMetadataArea {
    guard section.checksum == 0 else {
      throw fault.corrupt("the directory has a checksum of the metadata", at: section.offset)
    }
    let bytes = UnsafeRawBufferPointer(rebasing: file[section.offset..<(section.offset + section.length)])
    return try BinaryMetadataArea(bytes, offset: section.offset, fault: fault)
  }
}

extension BinaryFile {
  /// Returns the bytes of a section, which may be unchecked.
  func bytes(ofSection index: Int) -> ByteSlice {
    let section = directory.sections[index]
    return ByteSlice(region, offset: section.offset, count: section.length) ?? .empty
  }

  /// Checks that a section is as it was written.
  ///
  /// - Parameter what: the contents of the section, for the error.
  func check(
    section index: Int,
    _ what: String,
    entity: String? = nil,
    property: String? = nil
  ) throws(PersistenceError) {
    try Self.check(directory.sections[index], what, in: region.unsafeBytes, fault, entity: entity, property: property)
  }

  private static func check(
    _ section: BinarySection,
    _ what: String,
    in file: UnsafeRawBufferPointer,
    _ fault: BinaryFault,
    entity: String? = nil,
    property: String? = nil
  ) throws(PersistenceError) {
    let end = section.offset + section.length
    guard XXH64.hash(UnsafeRawBufferPointer(rebasing: file[section.offset..<end])) == section.checksum else {
      throw fault.corrupt(
        "the checksum of \(what) does not hold",
        at: section.offset,
        entity: entity,
        property: property
      )
    }
    guard let place = (end..<section.end).first(where: { file[$0] != 0 }) else { return }
    throw fault.corrupt("the bytes behind \(what) are not zero", at: place, entity: entity, property: property)
  }

  /// Checks that the sections of a group of records are as they were written.
  func check(_ entry: BinaryDirectory.Group, of table: BinaryDirectory.Table) throws(PersistenceError) {
    for index in 0..<entry.sectionLengths(table.columns).count {
      try check(section: entry.firstSection + index, "a part of the records", entity: table.entityName)
    }
  }

  /// Reads the metadata of the store.
  func metadata() throws(PersistenceError) -> StoreMetadata {
    let section = directory.sections[BinaryFormat.metadataSection]
    let json = metadataArea?.json ?? bytes(ofSection: BinaryFormat.metadataSection).data
    guard let metadata = StoreMetadata(json: json) else {
      throw fault.corrupt("the metadata cannot be understood", at: section.offset)
    }
    guard metadata.identifier == header.storeIdentifier else {
      throw fault.corrupt("the header and the metadata name different stores", at: section.offset)
    }
    return metadata
  }

  /// Returns the history in the file, of which nothing has been read; nil if it has none.
  func history() throws(PersistenceError) -> StoreHistory? {
    let added = log?.historyPage(self)
    guard let entry = directory.history else {
      return try added.map { page throws(PersistenceError) in try StoreHistory(purgedNumber: 0, pages: [page]) }
    }
    let pages = entry.transactionCounts.enumerated().map { place, count in
      let section = entry.firstSection + place
      let verifier = BinaryHistoryVerifier(file: self, section: section, transactionCount: count)
      return HistoryPage(bytes(ofSection: section), transactionCount: count, verifier: verifier)
    }
    return try StoreHistory(purgedNumber: entry.purgedNumber, pages: added.map { pages + [$0] } ?? pages)
  }

  /// Reads the model that the records were written with.
  func model() throws(PersistenceError) -> ManagedObjectModel {
    do {
      return try ManagedObjectModel.decoded(from: bytes(ofSection: BinaryFormat.modelSection).data)
    } catch {
      let section = directory.sections[BinaryFormat.modelSection]
      var fault = fault.corrupt("the model cannot be understood", at: section.offset)
      fault.underlyingError = error
      throw fault
    }
  }
}

// MARK: BinaryHistoryVerifier

/// Checks a page of the history that lies in a mapped file, before it is read.
struct BinaryHistoryVerifier: HistoryPageVerifier {
  let file: BinaryFile
  let section: Int
  let transactionCount: Int

  func verify() throws(PersistenceError) {
    try file.check(section: section, "a page of the history")
    let bytes = file.bytes(ofSection: section)
    guard let fault = HistoryPage.fault(in: bytes, transactionCount: transactionCount) else { return }
    throw file.fault.corrupt(fault.what, at: file.directory.sections[section].offset + fault.offset)
  }
}

// MARK: ByteSlice: data

extension ByteSlice {
  init(copying data: Data) {
    self = data.withUnsafeBytes { ByteSlice(ByteRegion.copying($0)) }
  }

  /// The bytes, copied.
  var data: Data { withExtendedLifetime(self) { Data(unsafeBytes) } }

  /// The bytes, copied.
  var array: [UInt8] { withExtendedLifetime(self) { Array(unsafeBytes) } }
}
