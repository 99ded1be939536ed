public import HeartwoodModel
public import HeartwoodStore

/// A store with the file format of Core Data's XML store: `Formats/XML` specifies it, and distinguishes the format of
/// Core Data from the additions of Heartwood.
///
/// Files that Core Data wrote are read with the model that they were written with, and written files keep Core Data's
/// form as long as the references of records are numbers, as in Core Data. A file is read and written piece by piece.
///
/// Names in a file have one case: a model in which names differ in case only is refused
/// (``PersistenceError/Code/capabilityMissing``).
public final class XMLStore: AtomicStore, StoreClass {
  /// Type `XML`, files named `*.xml`: everything that an atomic store can.
  public static let typeDescription = StoreTypeDescription(
    type: .xml,
    displayName: "Core Data XML",
    fileExtensions: ["xml"],
    mimeTypes: ["application/xml", "text/xml"],
    capabilities: StoreCapabilities(
      kind: .atomic,
      features: [.persistence, .relationships, .userMetadata, .embeddedModel],
      attributeTypes: Set(AttributeType.allCases),
      referenceKinds: [.integer, .uuid, .string]
    )
  )

  let schema: XMLSchema
  let limits: XMLLimits

  /// Makes a store for the entities of `setup`.
  ///
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` if names differ in case only.
  public init(_ setup: StoreSetup) throws {
    schema = try XMLSchema(setup.model, entities: setup.entities, path: setup.path)
    limits = XMLLimits(setup.options)
  }

  /// Reads the file, each value into its column as it comes. O(bytes).
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed`` with line and column,
  ///   ``PersistenceError/Code/modelIncompatible``, ``PersistenceError/Code/danglingReference`` if a relationship
  ///   refers to an abstract entity of which all subentities are abstract too.
  public func load(_ file: StoreInput, into loader: StoreLoader) throws {
    let reader = XMLReader(schema, limits: limits)
    try XMLStreamParser(file: file).parse(reader)
    guard let header = reader.header else { return }
    loader.metadata = XMLMetadata.metadata(header)
    loader.nextReferenceNumber = header.nextObjectID
    loader.attachment = CoreDataMetadata.Form(header.metadata)
    for table in try reader.tables() { loader.setTable(table) }
  }

  /// Refuses decimal numbers and metadata that could not be read back from their text.
  public func validate(_ contents: StoreContents) throws {
    try XMLMetadata.validate(contents.metadata.userInfo)
    for entity in contents.entities {
      try DecimalTextCheck(storeType: .xml).check(contents.table(of: entity))
    }
  }

  /// Writes the file, record by record. O(bytes).
  public func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    let form = contents.attachment as? CoreDataMetadata.Form ?? CoreDataMetadata.Form()
    try XMLWriter(schema: schema, contents: contents, form: form).write(to: output)
    contents.attachment = form
  }
}

// MARK: Without opening

extension XMLStore {
  /// Returns whether the file begins like an XML document whose first element is `database`.
  public static func recognizes(prefix: [UInt8]) -> Bool {
    let text = String(decoding: prefix, as: UTF8.self)
    return text.contains("<!DOCTYPE database") || text.contains("<database>")
  }

  /// Reads the part before the records. It costs the same for any number of records.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    XMLMetadata.metadata(try XMLDatabaseHandler.header(of: file, options: options))
  }

  /// Reads the model in the metadata; nil if there is none, as in files that Core Data wrote, or if another program has
  /// since written the file with another model.
  public static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try CoreDataMetadata.model(try XMLDatabaseHandler.header(of: file, options: options).metadata)
  }

  /// Makes a model from the elements of a file that contains none. The names of properties are in small letters,
  /// everything is optional, and no relationship has an inverse. O(bytes).
  ///
  /// If the file is damaged, the model is made of the records before the damage, for a salvage. Opening the file
  /// reports the damage.
  public static func inferModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    let inference = XMLModelInference(limits: XMLLimits(options))
    do {
      try XMLStreamParser(file: file).parse(inference)
    } catch {
      // try?: the first error says what is wrong with the file.
      guard let model = try? inference.model(), !model.entities.isEmpty else { throw error }
      return model
    }
    return try inference.model()
  }

  /// Reads the version of the format in the file.
  public static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? {
    _ = try XMLDatabaseHandler.header(of: file, options: options)
    return XMLFormat.version
  }
}

// MARK: XMLMetadata

/// The metadata of a store in Core Data's form in an XML file.
enum XMLMetadata {
  static func metadata(_ header: XMLHeader) -> StoreMetadata {
    CoreDataMetadata.metadata(header.metadata, identifier: header.identifier, storeType: .xml)
  }

  /// - Throws: ``PersistenceError/Code/valueUnsupported`` if the application uses a key that has a meaning of its own,
  ///   or one that XML cannot hold.
  static func validate(_ userInfo: [String: MetadataValue]) throws(PersistenceError) {
    try CoreDataMetadata.validate(userInfo, storeType: .xml)
    try PropertyListTextWriter.validate(.dictionary(userInfo), storeType: .xml)
  }
}
