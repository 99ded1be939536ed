public import HeartwoodModel
public import HeartwoodStore

/// Reads the intact records of a damaged property list in XML.
struct XMLPropertyListSalvage {
  private let schema: PropertyListSchema
  private let limits: XMLLimits
  private let salvage: StoreSalvage
  private var pieces: XMLPieces
  private var groups: [[RowGroup]]

  init(_ file: StoreInput, _ schema: PropertyListSchema, _ limits: XMLLimits, into salvage: StoreSalvage) throws {
    self.schema = schema
    self.limits = limits
    self.salvage = salvage
    pieces = try XMLPieces(file, into: salvage)
    groups = schema.entities.map { _ in [] }
  }

  mutating func run() throws {
    let (finder, schema, limits) = (EntityFinder(pieces, schema), schema, limits)
    var groups = groups
    var gaps: [Range<Int>] = []
    let form = XMLPieces.Form(
      prefix: { piece in
        let name = piece.entity.map { schema.entities[$0].name } ?? ""
        return Array("<plist><dict><key>records</key><dict><key>\(name)</key><array>".utf8)
      },
      suffix: Array("</array></dict></dict></plist>".utf8),
      end: "</plist>",
      next: finder.record
    )
    pieces.run(form, from: finder.start) { document, parts in
      guard let place = parts.first?.entity else { return }
      let reader = XMLPropertyListReader(schema, limits: limits)
      try XMLStreamParser(file: document).parse(reader)
      groups[place] += reader.tables()[place].groups
    } gap: {
      gaps.append($0)
    }
    for gap in gaps { note(gap: gap) }
    for (entity, groups) in zip(schema.entities, groups) {
      salvage.loader.setTable(try NodeTable(entity: entity.description, joining: groups))
    }
  }

  /// Notes a part that is not a record. The part between the records of one entity and those of the next is ignored.
  private mutating func note(gap: Range<Int>) {
    if salvage.isUnsound(gap) { return note("The bytes were changed or are missing.", gap, count: nil) }
    let count = pieces.count(of: "<key>$id</key>", in: gap)
    if count > 0 { note("This is not a record.", gap, count: count) }
  }

  private mutating func note(_ reason: String, _ range: Range<Int>, count: Int?) {
    pieces.note(.records, PersistenceError(.fileMalformed, reason), count: count, range)
  }

  /// Finds dictionaries that may be records, and the entity of the list that contains them.
  private final class EntityFinder {
    private let pieces: XMLPieces
    private let places: [[UInt8]: Int]
    /// The offsets of the lists, in order.
    private var lists: [(offset: Int, entity: Int)] = []

    init(_ pieces: XMLPieces, _ schema: PropertyListSchema) {
      self.pieces = pieces
      places = Dictionary(
        schema.entities.enumerated().map { (Array($0.element.name.utf8), $0.offset) },
        uniquingKeysWith: { first, _ in first }
      )
      findLists()
    }

    /// The offset of the records.
    var start: Int { lists.first?.offset ?? pieces.bytes.count }

    /// Finds lists: a key that is the name of an entity, followed by an array.
    private func findLists() {
      var position = 0
      while let key = pieces.find("<key>", from: position) {
        position = key + 5
        guard let end = pieces.nextTag(from: position), let entity = places[Array(pieces.bytes[position..<end])],
          let array = pieces.nextTag(from: end + 1), pieces.has("<array>", at: array),
          pieces.isBlank((end + "</key>".utf8.count)..<max(array, end + "</key>".utf8.count))
        else { continue }
        lists.append((array, entity))
      }
    }

    func record(from start: Int) -> XMLPieces.Piece? {
      guard let first = pieces.find("<dict>", from: max(start, self.start)) else { return nil }
      let entity = lists.last { $0.offset < first }?.entity
      return .init(range: first..<end(ofDictionaryAt: first), entity: entity)
    }

    private func end(ofDictionaryAt start: Int) -> Int {
      var (depth, position) = (0, start)
      while let tag = pieces.nextTag(from: position) {
        position = tag + 1
        if pieces.has("<dict>", at: tag) { depth += 1 }
        guard pieces.has("</dict>", at: tag) else { continue }
        depth -= 1
        if depth == 0 { return tag + "</dict>".utf8.count }
      }
      return pieces.bytes.count
    }
  }
}

// MARK: The store

extension PropertyListStore: SalvagingStore {
  /// Reads each record by itself, if the list as a whole is damaged. A binary list whose table of objects is missing is
  /// read in the order of its objects in the file.
  public func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
    let kind = try Self.kind(of: file)
    salvage.loader.attachment = kind
    switch kind {
    case .binary:
      let remains = try Self.remains(file, salvage.unsoundRanges)
      if let fault = remains.fault {
        salvage.note(.fileParts, BinaryPropertyListReader.error(fault, path: file.path), count: 0)
      }
      takeMetadata(remains.header, file, salvage)
      var reader = BinaryPropertyListSalvage(remains, schema, path: file.path, into: salvage)
      reader.run()
    case .xml:
      takeMetadata(Self.xmlHeader(file, options), file, salvage)
      var reader = try XMLPropertyListSalvage(file, schema, XMLLimits(options), into: salvage)
      try reader.run()
    }
  }

  /// Returns the model in the file, if it can be read.
  public static func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel? {
    guard let kind = try? kind(of: file) else { return nil }
    let header = kind == .xml ? xmlHeader(file, options) : (try? remains(file, []))?.header
    return header.flatMap { try? PropertyListMetadata.model($0) }
  }

  private static func remains(_ file: StoreInput, _ unsoundRanges: [Range<Int>]) throws -> PropertyListRemains {
    let slice = ByteSlice(try file.file.mapped().region)
    do throws(PropertyListFault) {
      return try PropertyListRemains(slice, unsoundRanges: unsoundRanges)
    } catch {
      throw BinaryPropertyListReader.error(error, path: file.path)
    }
  }

  /// Reads the part before the records, up to the place at which it is damaged.
  private static func xmlHeader(_ file: StoreInput, _ options: StoreOptions) -> PropertyListHeader {
    let handler = XMLPropertyListHandler(limits: XMLLimits(options), readsHeaderOnly: true)
    // try?: the parts that were read before a failure are used.
    try? XMLStreamParser(file: file).parse(handler)
    return handler.header
  }

  private func takeMetadata(_ header: PropertyListHeader, _ file: StoreInput, _ salvage: StoreSalvage) {
    do {
      salvage.loader.metadata = try PropertyListMetadata.metadata(header, path: file.path)
    } catch {
      salvage.note(.fileParts, error, count: 0)
    }
  }
}
