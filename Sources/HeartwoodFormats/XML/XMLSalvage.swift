import HeartwoodFoundation
import HeartwoodModel
public import HeartwoodStore

/// Reads the intact objects of a damaged file.
struct XMLSalvage {
  private let schema: XMLSchema
  private let limits: XMLLimits
  private let file: StoreInput
  private let salvage: StoreSalvage
  private var pieces: XMLPieces
  private var groups: [[RowGroup]]

  init(_ file: StoreInput, _ schema: XMLSchema, _ limits: XMLLimits, into salvage: StoreSalvage) throws {
    self.file = file
    self.schema = schema
    self.limits = limits
    self.salvage = salvage
    pieces = try XMLPieces(file, into: salvage)
    groups = schema.entities.map { _ in [] }
  }

  mutating func run(_ options: StoreOptions) throws {
    readHeader(options)
    readObjects()
    for table in try tables() { salvage.loader.setTable(table) }
  }

  // MARK: Header

  private mutating func readHeader(_ options: StoreOptions) {
    do {
      let header = try XMLDatabaseHandler.header(of: file, options: options)
      salvage.loader.metadata = XMLMetadata.metadata(header)
      salvage.loader.nextReferenceNumber = header.nextObjectID
    } catch {
      pieces.note(.fileParts, error, count: 0, 0..<headerEnd)
      if let identifier { salvage.loader.metadata.identifier = identifier }
    }
  }

  private var headerEnd: Int {
    pieces.find("</databaseInfo>", from: 0).map { $0 + "</databaseInfo>".utf8.count }
      ?? pieces.find("<object", from: 0) ?? pieces.bytes.count
  }

  /// The identifier, if nothing else of the header can be read.
  private var identifier: UUID? {
    guard let start = pieces.find("<UUID>", from: 0), let end = pieces.find("</UUID>", from: start) else { return nil }
    return UUID(uuidString: String(decoding: pieces.bytes[(start + 6)..<end], as: UTF8.self))
  }

  // MARK: Objects

  private mutating func readObjects() {
    let (finder, schema, limits) = (pieces, schema, limits)
    var gaps: [Range<Int>] = []
    var groups = groups
    let form = XMLPieces.Form(
      prefix: { _ in Self.prefix(finder.bytes) },
      suffix: Array("</database>".utf8),
      end: "</database>",
      next: { Self.object(from: $0, in: finder) }
    )
    pieces.run(form, from: headerEnd) { document, _ in
      let reader = XMLReader(schema, limits: limits)
      try XMLStreamParser(file: document).parse(reader)
      for (place, table) in reader.unresolvedTables().enumerated() { groups[place] += table.groups }
    } gap: {
      gaps.append($0)
    }
    self.groups = groups
    for gap in gaps { note(gap: gap) }
  }

  private static func object(from start: Int, in pieces: XMLPieces) -> XMLPieces.Piece? {
    guard let first = pieces.find("<object", from: start) else { return nil }
    let end = pieces.find("</object>", from: first).map { $0 + "</object>".utf8.count } ?? pieces.bytes.count
    return .init(range: first..<end)
  }

  /// Returns the text before objects that are read by themselves: the declaration of the file, which may contain its
  /// encoding, and a header.
  private static func prefix(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    let declaration = bytes.prefix(200).prefix { $0 != UInt8(ascii: ">") }
    let isDeclaration = declaration.starts(with: Array("<?xml".utf8)) && declaration.last == UInt8(ascii: "?")
    let header =
      "<database><databaseInfo><version>\(XMLFormat.version)</version><UUID>\(UUID().uuidString)</UUID></databaseInfo>"
    return (isDeclaration ? Array(declaration) + [UInt8(ascii: ">")] : []) + Array(header.utf8)
  }

  private mutating func note(gap: Range<Int>) {
    var gap = gap
    if let end = pieces.find("</database>", from: gap.lowerBound, before: gap.upperBound) {
      let rest = (end + "</database>".utf8.count)..<gap.upperBound
      if !pieces.isBlank(rest) {
        pieces.note(.fileParts, Self.error("Something follows the end of the document."), count: 0, rest)
      }
      gap = gap.lowerBound..<end
    }
    guard !pieces.isBlank(gap) else { return }
    guard !salvage.isUnsound(gap) else {
      return pieces.note(.records, Self.error("The bytes were changed or are missing."), count: nil, gap)
    }
    let count = pieces.count(of: "</object>", in: gap)
    pieces.note(count > 0 ? .records : .fileParts, Self.error("This is not an object."), count: count, gap)
  }

  private static func error(_ message: String) -> PersistenceError { PersistenceError(.fileMalformed, message) }

  // MARK: Tables

  /// Returns the tables, in which the references of relationships to several entities have been resolved.
  private func tables() throws -> [NodeTable] {
    var tables: [NodeTable] = []
    for (entity, groups) in zip(schema.entities, groups) {
      let table = try NodeTable(entity: entity.description, joining: groups)
      tables.append(try salvage.withoutDuplicates(table))
    }
    return try XMLReferenceResolver(schema, tables: tables).resolved()
  }
}

extension XMLStore: SalvagingStore {
  /// Reads each object by itself, if the document as a whole is damaged: intact objects are kept.
  public func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
    var reader = try XMLSalvage(file, schema, limits, into: salvage)
    try reader.run(StoreOptions())
  }
}
