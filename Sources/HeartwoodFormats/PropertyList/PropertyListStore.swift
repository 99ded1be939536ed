public import HeartwoodModel
public import HeartwoodStore

extension StoreOptionKey<PropertyListKind> {
  /// The form in which a new property list is written; binary by default. An existing file keeps its form.
  public static let propertyListKind = StoreOptionKey("propertyListKind", default: .binary)
}

/// A store whose file is a property list, binary or XML, that every tool for property lists can read:
/// `Formats/PropertyList` specifies it.
///
/// The file is a dictionary with the metadata, the model, and for each entity an array of dictionaries, one for each
/// record. Both forms are read, and a save keeps the form.
public final class PropertyListStore: AtomicStore, StoreClass {
  /// Type `PropertyList`, files named `*.plist`: everything that an atomic store can.
  public static let typeDescription = StoreTypeDescription(
    type: .propertyList,
    displayName: "Property list",
    fileExtensions: ["plist"],
    mimeTypes: ["application/x-plist"],
    capabilities: StoreCapabilities(
      kind: .atomic,
      features: [.persistence, .relationships, .userMetadata, .embeddedModel],
      attributeTypes: Set(AttributeType.allCases),
      referenceKinds: [.uuid, .integer, .string]
    )
  )

  let schema: PropertyListSchema
  let options: StoreOptions

  /// Makes a store for the entities of `setup`.
  public init(_ setup: StoreSetup) throws {
    schema = PropertyListSchema(setup.model, entities: setup.entities)
    options = setup.options
  }

  /// Reads the file: a binary one on all processors and in place, an XML one piece by piece. O(bytes).
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed`` with the byte, or the line and column; ``PersistenceError/Code/modelIncompatible``.
  public func load(_ file: StoreInput, into loader: StoreLoader) throws {
    let kind = try Self.kind(of: file)
    let tables: [NodeTable]
    switch kind {
    case .binary:
      let header = try BinaryPropertyListReader.header(of: file)
      loader.metadata = try PropertyListMetadata.metadata(header, path: file.path)
      tables = try BinaryPropertyListReader(file, schema: schema).tables()
    case .xml:
      let reader = XMLPropertyListReader(schema, limits: XMLLimits(options))
      try XMLStreamParser(file: file).parse(reader)
      loader.metadata = try PropertyListMetadata.metadata(reader.header, path: file.path)
      tables = reader.tables()
    }
    for table in tables {
      try table.checkReferences()
      loader.setTable(table)
    }
    loader.attachment = kind
  }

  /// Refuses metadata and decimal numbers that could not be read back.
  public func validate(_ contents: StoreContents) throws {
    try PropertyListTextWriter.validate(.dictionary(contents.metadata.userInfo), storeType: .propertyList)
    for entity in contents.entities {
      try DecimalTextCheck(storeType: .propertyList).check(contents.table(of: entity))
    }
  }

  /// Writes the whole file. O(bytes).
  public func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    let kind = contents.attachment as? PropertyListKind ?? options[.propertyListKind]
    switch kind {
    case .binary: try BinaryPropertyListWriter(schema: schema, contents: contents).write(to: output)
    case .xml: try XMLPropertyListWriter(schema: schema, contents: contents).write(to: output)
    }
    contents.attachment = kind
  }
}

// MARK: The kind of a file

extension PropertyListStore {
  /// Stores the form of the file in the options. A save over it keeps the form whatever the options are.
  public static func options(
    _ options: StoreOptions,
    keepingFormOf file: StoreInput,
    _ setup: StoreSetup
  ) throws -> StoreOptions {
    var options = options
    options[.propertyListKind] = try kind(of: file)
    return options
  }
}

// MARK: Without opening

extension PropertyListStore {
  /// Returns whether the file begins like a binary property list, or like an XML document whose first element is
  /// `plist`.
  public static func recognizes(prefix: [UInt8]) -> Bool {
    if prefix.starts(with: PropertyListFormat.binaryMagic) { return true }
    let text = String(decoding: prefix, as: UTF8.self)
    return text.contains("<!DOCTYPE plist") || text.contains("<plist")
  }

  static func kind(of file: StoreInput) throws -> PropertyListKind {
    let prefix = try file.bytes(from: 0, count: PropertyListFormat.binaryMagic.count)
    return prefix == PropertyListFormat.binaryMagic ? .binary : .xml
  }

  private static func header(of file: StoreInput, _ options: StoreOptions) throws -> PropertyListHeader {
    if try kind(of: file) == .binary { return try BinaryPropertyListReader.header(of: file) }
    let handler = XMLPropertyListHandler(limits: XMLLimits(options), readsHeaderOnly: true)
    try XMLStreamParser(file: file).parse(handler)
    return handler.header
  }

  /// Reads the metadata without the records.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try PropertyListMetadata.metadata(try header(of: file, options), path: file.path)
  }

  /// Reads the model that the records were written with.
  public static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try PropertyListMetadata.model(try header(of: file, options))
  }

  /// Reads the version of the format, and whether the file is binary or XML.
  public static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? {
    _ = try readMetadata(from: file, options: options)
    return "\(PropertyListFormat.version), \(try kind(of: file).rawValue)"
  }
}
