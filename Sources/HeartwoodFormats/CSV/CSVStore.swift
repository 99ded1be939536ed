import HeartwoodModel
public import HeartwoodStore

/// A store with the records of one entity as text, a line for each: `Formats/CSV` is the specification.
///
///     #D35CF030-1EC1-4667-9666-70C8247A1010
///     1, insertCurrent, 2, 2016-09-17 18:15:00 +0000, E899556C-BE1A-42A3-A634-F8411915C05F
///
/// The first line is the store's identifier. The columns follow from the model or from a ``Layout``. A save keeps the
/// bytes of every line whose record did not change, unless it becomes the first one and would make readers detect
/// another separator.
///
/// A CSV file holds no metadata but the identifier, no dates outside of the years 1 to 9999
/// (``PersistenceError/Code/valueUnsupported``), and no record longer than 1 GiB.
public final class CSVStore: AtomicStore, StoreClass {
  /// Type `CSV`, files named `*.csv`: one entity, every type of attribute, references of every kind, no metadata of the user.
  public static let typeDescription = StoreTypeDescription(
    type: .csv,
    displayName: "Comma-separated values",
    fileExtensions: ["csv"],
    mimeTypes: ["text/csv"],
    capabilities: StoreCapabilities(
      kind: .atomic,
      features: [.persistence, .relationships],
      attributeTypes: Set(AttributeType.allCases),
      referenceKinds: [.uuid, .integer, .string],
      maximumEntityCount: 1
    )
  )

  let schema: CSVSchema
  private let chunkSize: Int

  /// Makes a store for the one entity of `setup` that is not abstract.
  ///
  /// - Throws: an error that describes the fault in the ``Layout``, or the reason why the entity cannot be kept.
  public init(_ setup: StoreSetup) throws {
    schema = try CSVSchema(setup)
    chunkSize = min(max(1, setup.options[.csvChunkSize]), CSVReader.greatestChunkSize)
  }

  /// Returns whether the file begins with a number sign and a UUID.
  public static func recognizes(prefix: [UInt8]) -> Bool {
    CSVIdentifierLine.begins(prefix)
  }

  /// Reads the identifier from the first line.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    StoreMetadata(identifier: try CSVIdentifierLine.read(file).identifier, storeType: .csv)
  }

  /// Reads the file on all processors. O(bytes).
  public func load(_ file: StoreInput, into loader: StoreLoader) throws {
    let preamble = try CSVPreamble.read(file, schema: schema)
    let reader = CSVReader(file: file, schema: schema, preamble: preamble, chunkSize: chunkSize)
    let table = NodeTable(entity: schema.entity, groups: try reader.groups())
    try reader.checkReferences(table)
    loader.metadata.identifier = preamble.identifier
    loader.attachment = preamble
    loader.setTable(table)
  }

  /// Refuses dates, URIs and decimal numbers that could not be read back from their text. O(records).
  public func validate(_ contents: StoreContents) throws {
    try CSVContentsCheck(schema: schema).check(contents.table(of: schema.entity))
  }

  /// Writes the file; lines of records that did not change are copied from the file that is replaced. O(bytes).
  public func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    let table = contents.table(of: schema.entity)
    if let previous, let preamble = previous.contents.attachment as? CSVPreamble {
      let rewriter = CSVRewriter(
        writer: CSVWriter(schema: schema, dialect: preamble.dialect),
        old: previous.contents.table(of: schema.entity),
        new: table,
        file: previous.file,
        preamble: preamble,
        identifier: contents.metadata.identifier
      )
      contents.attachment = try rewriter.write(to: output)
    } else {
      let writer = CSVWriter(schema: schema, dialect: CSVDialect(schema.layout.dialect))
      contents.attachment = try writer.write(table, identifier: contents.metadata.identifier, to: output)
    }
  }
}

// MARK: Form

extension CSVStore {
  /// Stores the dialect of the file in the layout: separators, quotes, ends of lines, header row and byte order mark.
  public static func options(
    _ options: StoreOptions,
    keepingFormOf file: StoreInput,
    _ setup: StoreSetup
  ) throws -> StoreOptions {
    let preamble = try CSVPreamble.read(file, schema: try CSVSchema(setup))
    var options = options
    var layout = options[.csvLayout]
    layout.dialect = preamble.dialect.named
    options[.csvLayout] = layout
    return options
  }
}

extension CSVDialect {
  /// The same dialect with everything that an author of a layout can set.
  fileprivate var named: CSVStore.Dialect {
    var dialect = CSVStore.Dialect()
    dialect.separator = separator
    dialect.hasSpaceAfterSeparator = hasSpaceAfterSeparator
    dialect.quoting = quoting
    dialect.lineEnd = lineEnd
    dialect.hasHeader = hasHeader
    dialect.hasByteOrderMark = hasByteOrderMark
    dialect.endsLastLine = endsLastLine
    dialect.padsFirstLine = padsFirstLine
    return dialect
  }
}
