public import HeartwoodModel
public import HeartwoodStore

/// A store with the file format of Core Data's binary store, `NSBinaryStoreType`: `Formats/CoreDataBinary` describes
/// it, and distinguishes the format of Core Data from the additions of Heartwood.
///
/// A file contains the values of attributes by position, without their names: it is read with the model that it was
/// written with. A model that is made from the records (``inferModel(from:options:)``) is suitable for looking and
/// converting.
///
/// The file is read in place and written as a whole. As long as the references of records are different positive
/// numbers, the records in the file contain nothing that Core Data does not write.
public final class CoreDataBinaryStore: AtomicStore, StoreClass {
  /// Type `CoreDataBinary`, files of any name: everything that an atomic store can.
  public static let typeDescription = StoreTypeDescription(
    type: .coreDataBinary,
    displayName: "Core Data binary",
    fileExtensions: ["coredata"],
    mimeTypes: [],
    capabilities: StoreCapabilities(
      kind: .atomic,
      features: [.persistence, .relationships, .userMetadata, .embeddedModel],
      attributeTypes: Set(AttributeType.allCases),
      referenceKinds: [.integer, .uuid, .string]
    )
  )

  let schema: CoreDataBinarySchema
  let setup: StoreSetup

  /// Makes a store for the entities of `setup`.
  public init(_ setup: StoreSetup) throws {
    schema = CoreDataBinarySchema(setup.model, entities: setup.entities)
    self.setup = setup
  }

  /// Reads the file, each value from its place into a column. O(bytes).
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed`` with the byte, and ``PersistenceError/Code/modelIncompatible``
  ///   if the records have other attributes or relationships than the model; with the entity, the property and the
  ///   record as far as they are known.
  public func load(_ file: StoreInput, into loader: StoreLoader) throws {
    let region = try file.file.mapped().region
    let head = try CoreDataBinaryHead(file, region)
    let reader = try CoreDataBinaryReader(file, region, head, schema: schema, loader: loader)
    let tables = try reader.tables()
    for table in tables {
      try table.checkReferences()
      loader.setTable(table)
    }
    loader.metadata = head.metadata
    loader.nextReferenceNumber = reader.nextNumber(head.header)
    var form = head.form
    form.valueCounts = reader.valueCounts
    loader.attachment = form
  }

  /// Refuses metadata with keys of Core Data's, and metadata that could not be read back.
  public func validate(_ contents: StoreContents) throws {
    try CoreDataMetadata.validate(contents.metadata.userInfo, storeType: .coreDataBinary)
    _ = try PropertyListData.binary(.dictionary(contents.metadata.userInfo))
  }

  /// Writes the file. O(bytes).
  ///
  /// - Throws: ``PersistenceError/Code/storeReadOnly`` if the model was made from the records of the file that is to be
  ///   replaced.
  public func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    if let previous { try checkIsOfModel(previous.contents.metadata) }
    let form = contents.attachment as? CoreDataBinaryForm ?? CoreDataBinaryForm()
    try CoreDataBinaryWriter(schema: schema, contents: contents, form: form).write(to: output)
    contents.attachment = form
  }

  /// Refuses to write a file with a model that was made from its records.
  private func checkIsOfModel(_ metadata: StoreMetadata) throws(PersistenceError) {
    guard setup.isRecovered(of: metadata) else { return }
    throw PersistenceError(
      .storeReadOnly,
      "The model was made of the records of a file, so its version hashes differ: Core Data would not open a file that is written with it. "
        + "The file can only be read.",
      recovery:
        "Open it with the model that it was written with, or convert it to a new file, which has the recovered model.",
      context: .init(path: setup.path, storeType: .coreDataBinary)
    )
  }
}

// MARK: Without opening

extension CoreDataBinaryStore {
  /// Returns whether the file begins with the header of a binary store of Core Data.
  public static func recognizes(prefix: [UInt8]) -> Bool { prefix.starts(with: CoreDataBinaryHeader.magic) }

  /// Reads the metadata without the records.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try CoreDataBinaryHead(file).metadata
  }

  /// Reads the model in the metadata; nil if there is none, as in files that Core Data wrote, or if another program has
  /// since written the file with another model.
  public static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try CoreDataMetadata.model(try CoreDataBinaryHead(file).members)
  }

  /// Reads the version in the header, and Core Data's version of the format.
  public static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? {
    "\(CoreDataBinaryHeader.version), \(try CoreDataBinaryHeader(file).formVersion)"
  }
}
