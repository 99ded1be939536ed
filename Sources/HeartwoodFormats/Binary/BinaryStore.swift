public import HeartwoodModel
public import HeartwoodStore

/// A store whose file consists of columns of values, used in place: `Formats/Binary` specifies it.
///
/// Opening maps the file and reads its directory, so it costs the same for any number of records; the records of an
/// entity are checked as a whole before the first one is read.
///
/// A save that changes few records of a file of 256 KB or more adds them to its end, so that it costs as much as the
/// change does, on the disk as well: a record of a million is saved in less than a millisecond. When what was added
/// exceeds half of the rest, a save writes the whole file again; ``StoreOptionKey/binaryAddsSavesToFile`` turns this
/// off. After a crash at any moment, the file contains either all of a save or nothing of it. Metadata that is set
/// without opening the file is overwritten in place. Other programs must not write to the file while it is open, except
/// by means of this library; replacing it is safe.
public final class BinaryStore: AtomicStore, StoreClass {
  /// Declares support for everything that an atomic store can do.
  public static let typeDescription = StoreTypeDescription(
    type: .binary,
    displayName: "Heartwood binary store",
    fileExtensions: ["heartwood", "binary", "bin"],
    mimeTypes: ["application/vnd.heartwood.binary"],
    capabilities: StoreCapabilities(
      kind: .atomic,
      features: [.persistence, .relationships, .userMetadata, .embeddedModel, .history],
      attributeTypes: Set(AttributeType.allCases),
      referenceKinds: [.uuid, .integer, .string]
    )
  )

  private let path: String
  private let addsSaves: Bool

  /// Makes a store for the file of `setup`.
  ///
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` if there is no file.
  public init(_ setup: StoreSetup) throws {
    guard let path = setup.path else {
      throw PersistenceError(
        .capabilityMissing,
        "A binary store needs a file.",
        recovery: "Give it a location, or add a store of type \(StoreType.inMemory).",
        context: .init(storeType: .binary)
      )
    }
    self.path = path
    addsSaves = setup.options[.binaryAddsSavesToFile]
  }

  /// Maps the file and makes tables that use its bytes.
  ///
  /// - Throws: ``PersistenceError/Code/fileCorrupt`` with the offset of the fault,
  ///   ``PersistenceError/Code/fileFormatUnsupported``, ``PersistenceError/Code/modelIncompatible``. Faults of records
  ///   are found when their table is verified.
  public func load(_ file: StoreInput, into loader: StoreLoader) throws {
    let file = try BinaryFile(file)
    loader.metadata = try file.metadata()
    var (tables, memory) = try BinaryReader(file, model: loader.model, entities: loader.entities).read()
    for table in tables { loader.setTable(table) }
    loader.history = try file.history()
    memory.note(loader.history, in: file)
    loader.attachment = memory
  }

  /// Writes the whole file, with columns straight from memory. It has format version 4, or 3 if it is shorter than
  /// 256 KB; files of versions 1 and 2 can be read.
  ///
  /// - Throws: ``PersistenceError/Code/valueUnsupported`` if a value could not be read back.
  public func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    let memory = contents.attachment as? BinarySaveMemory ?? BinarySaveMemory()
    contents.attachment = try BinaryWriter(contents, memory: memory, path: path).write(to: output)
  }
}

extension BinaryStore: AppendingStore {
  /// Returns what the changes of a save are at the end of the file; nil if the file should be written as a whole.
  public func appendix(
    for changes: ChangeSet,
    recordedAs transaction: ByteSlice?,
    in contents: inout StoreContents,
    before: StoreContents
  ) throws -> FileAppendix? {
    guard addsSaves, var memory = contents.attachment as? BinarySaveMemory, let log = memory.log,
      let added = try BinaryAppender(log, changes.byColumn, transaction, contents, before, path: path).appendix()
    else { return nil }
    memory.log = added.log
    contents.attachment = memory
    return added.appendix
  }
}

extension StoreOptionKey<Bool> {
  /// Whether a binary store adds saves of few records to the end of its file, instead of writing the whole file. On by
  /// default.
  ///
  ///     options[.binaryAddsSavesToFile] = false
  ///
  /// Turn it off for files that are kept under version control or compared byte by byte: the same records are the same
  /// bytes only in a file that was written as a whole.
  public static let binaryAddsSavesToFile = StoreOptionKey("binaryAddsSavesToFile", default: true)
}

// MARK: Without opening

extension BinaryStore {
  /// Returns whether a file that begins with `prefix` is a binary store of Heartwood's.
  public static func recognizes(prefix: [UInt8]) -> Bool { prefix.starts(with: BinaryFormat.magic) }

  /// Reads the metadata. It costs the same for any number of records.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try BinaryFile(file).metadata()
  }

  /// Returns patches for the metadata: the file has two copies, and one of them is intact at all times. Nil if the
  /// identifier changes, if the new metadata needs an area of another length, and for files of versions 1 and 2: these
  /// are written again.
  public static func metadataPatches(
    _ metadata: StoreMetadata,
    in file: StoreInput,
    options: StoreOptions
  ) throws -> [FilePatch]? {
    let binary = try BinaryFile(file)
    guard let area = binary.metadataArea, metadata.identifier == binary.header.storeIdentifier else { return nil }
    return area.patches(try metadata.binaryJSON(path: file.path))
  }

  /// Reads the model that the records were written with.
  public static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try BinaryFile(file).model()
  }

  /// Reads the version of the format, a whole number, from the header.
  public static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? {
    let prefix = try file.bytes(from: 0, count: BinaryFormat.headerLength)
    let header = try prefix.withUnsafeBytes { try BinaryHeader($0, fault: BinaryFault(path: file.path)) }
    return String(header.formatVersion)
  }
}

// MARK: BinarySaveMemory

/// The images of a store's groups in its file, kept from one save to the next, so that only what has changed is checked
/// and hashed again.
struct BinarySaveMemory: Sendable {
  /// The images by the identity of a group. An image holds its group, so the identity is not given to another one.
  private var images: [ObjectIdentifier: BinaryGroupImage] = [:]
  /// The images by the identity of a page, which they hold.
  private var pages: [ObjectIdentifier: BinaryHistoryImage] = [:]
  /// The end of the file, where the next save can be added; nil if none can.
  var log: BinaryLogMemory?

  init() {}

  /// Keeps the images of the groups in `contents`, and not of those that were put together to be written; and those of
  /// the pages of the history.
  init(
    _ images: [BinaryGroupImage],
    _ pages: [BinaryHistoryImage],
    of contents: StoreContents,
    log: BinaryLogMemory?
  ) {
    self.log = log
    let groups = Set(contents.tables.flatMap { $0.groups.map(ObjectIdentifier.init) })
    for image in images where groups.contains(ObjectIdentifier(image.group)) { note(image) }
    for image in pages { note(image) }
  }

  /// Returns the image of `group`, if it was written or read before.
  func image(of group: RowGroup) -> BinaryGroupImage? { images[ObjectIdentifier(group)] }

  /// Returns the image of `page`, if it was written or read before.
  func image(of page: HistoryPage) -> BinaryHistoryImage? { pages[ObjectIdentifier(page)] }

  mutating func note(_ image: BinaryHistoryImage) {
    pages[ObjectIdentifier(image.page)] = image
  }

  /// Adds the pages of a history that lie in sections of `file`. Their checksums have not been verified yet; no save begins
  /// before that is done.
  mutating func note(_ history: StoreHistory?, in file: BinaryFile) {
    guard let history, let entry = file.directory.history else { return }
    // Pages after these are of saves that were added to the file.
    for (place, page) in history.pages.prefix(entry.transactionCounts.count).enumerated() {
      note(BinaryHistoryImage(page, checksum: file.directory.sections[entry.firstSection + place].checksum))
    }
  }

  mutating func note(_ image: BinaryGroupImage) {
    images[ObjectIdentifier(image.group)] = image
  }

  /// Adds a group that was read from `file`. Its checksums have not been verified yet; no save begins before that is
  /// done.
  mutating func note(
    _ group: RowGroup,
    _ entry: BinaryDirectory.Group,
    in file: BinaryFile,
    columns: [BinaryDirectory.Column]
  ) {
    let sections = (0..<entry.sectionLengths(columns).count).map { entry.firstSection + $0 }
    note(
      BinaryGroupImage(
        group: group,
        entry: entry,
        parts: sections.map { .init(bytes: file.bytes(ofSection: $0), checksum: file.directory.sections[$0].checksum) }
      )
    )
  }
}
