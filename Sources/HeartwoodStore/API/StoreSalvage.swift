public import HeartwoodModel

/// A store that can read what is sound in a damaged file, and say what is not.
///
/// A store of any kind may adopt it. One that does not is read as usual: what it has added to its loader before it failed is kept, and its
/// error says what is wrong. A store whose records can be read one by one does better here:
///
///     extension JSONLinesStore: SalvagingStore {
///       func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
///         for (number, line) in lines(of: file) {
///           salvage.addNode(reference(of: line), to: entity, line: number) { node in try node.setValue(…, forKey: …) }
///         }
///       }
///     }
///
/// Links between records need no care: those that lead nowhere are dropped and reported afterwards, and inverses are made to agree.
public protocol SalvagingStore: AnyObject, Sendable {
  /// Reads what is sound into the loader of `salvage`, and notes all else there. A value that cannot be read is noted and left nil; a record
  /// that cannot be read is noted and left out. Nothing is made up.
  ///
  /// An incremental store is not connected when this is called.
  ///
  /// - Throws: an error if there is nothing to begin with: the file is none of the store's, or the part of it is gone without which nothing
  ///   else can be told.
  func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws
}

// MARK: StoreSalvage

/// Takes what a store reads of a damaged file: the records that are sound, and what is wrong with the others.
public final class StoreSalvage {
  /// Takes the records and the metadata.
  public let loader: StoreLoader
  /// Parts of the file that must not be believed: a wrapper around the store knows that their bytes were changed or are missing. In order.
  public let unsoundRanges: [Range<Int>]
  /// What has been noted, in order.
  public private(set) var losses: [SalvageReport.Loss] = []

  /// The relationships that the file keeps at the other end alone, so that what they say is no news.
  private(set) var derivedRelationships: Set<RelationshipSide> = []

  package init(_ loader: StoreLoader, unsoundRanges: [Range<Int>] = []) {
    self.loader = loader
    self.unsoundRanges = unsoundRanges
  }

  /// Notes something that is not as it was.
  public func note(_ loss: SalvageReport.Loss) {
    losses.append(loss)
  }

  /// Notes what an error says, with its entity, property, line and byte.
  ///
  /// - Parameters:
  ///   - count: how many records, values or links were lost; nil if nobody knows.
  ///   - byteRange: where they are in the file; nil means the byte that the error names, if it names one.
  public func note(
    _ kind: SalvageReport.Loss.Kind,
    _ error: any Error,
    entity: String? = nil,
    references: [ReferenceID] = [],
    count: Int?,
    byteRange: Range<Int>? = nil
  ) {
    note(SalvageReport.Loss(kind, error, entity: entity, references: references, count: count, byteRange: byteRange))
  }

  /// Adds a record as ``StoreLoader/addNode(_:to:version:_:)`` does, but notes an error in the place of throwing it: then the record is left
  /// out.
  ///
  /// - Returns: whether it was added.
  @discardableResult
  public func addNode(
    _ reference: ReferenceID,
    to entity: EntityDescription,
    version: UInt64 = 1,
    line: Int? = nil,
    byteRange: Range<Int>? = nil,
    _ fill: (inout NodeDraft) throws -> Void
  ) -> Bool {
    do {
      try loader.addNode(reference, to: entity, version: version, fill)
      return true
    } catch {
      var loss = SalvageReport.Loss(
        .records,
        error,
        entity: entity.name,
        references: [reference],
        count: 1,
        byteRange: byteRange
      )
      loss.line = line ?? loss.line
      note(loss)
      return false
    }
  }

  /// Notes that the file keeps a relationship at its other end alone.
  package func noteDerived(_ ordinal: Int, of entity: EntityDescription) {
    derivedRelationships.insert(RelationshipSide(entity.declaring(ordinal), ordinal))
  }

  /// Whether some bytes of `range` must not be believed. O(log ranges).
  public func isUnsound(_ range: Range<Int>) -> Bool { unsoundRanges.overlaps(range) }
}

// MARK: Stores inside of others

extension StoreSalvage {
  /// Lets another store read what is sound: the one inside of a wrapper, whose file this is or was made from.
  ///
  /// - Parameters:
  ///   - store: a store that salvages itself, or is loaded as usual up to where that fails.
  ///   - format: the store's format.
  ///   - unsoundRanges: parts of `file` whose bytes were changed or are missing, in order. A store that does not salvage itself reads what is
  ///     before the first of them.
  public func read(
    _ store: any AtomicStore,
    of format: any FileFormat,
    from file: StoreInput,
    options: StoreOptions,
    unsoundRanges: [Range<Int>] = []
  ) throws {
    let inner = StoreSalvage(loader, unsoundRanges: unsoundRanges)
    defer {
      for loss in inner.losses { note(loss) }
      derivedRelationships.formUnion(inner.derivedRelationships)
    }
    if let store = store as? any SalvagingStore { return try store.salvage(file, into: inner) }
    guard let first = unsoundRanges.first else { return try inner.load(store, format, file, options: options) }
    let sound = try file.bytes(from: 0, count: first.lowerBound)
    let start = ByteSlice(FileBytes(copying: sound).region)
    try inner.load(store, format, try StoreInput(DecodedFile(start, of: file)), options: options)
  }

  /// Lets a store whose class is its own format read what is sound: ``read(_:of:from:options:unsoundRanges:)``.
  public func read(
    _ store: any AtomicStore & StoreClass,
    from file: StoreInput,
    options: StoreOptions,
    unsoundRanges: [Range<Int>] = []
  ) throws {
    let format = AtomicClassFormat(type(of: store))
    try read(store, of: format, from: file, options: options, unsoundRanges: unsoundRanges)
  }
}

extension StoreSalvage {
  /// A table without records that have the same reference as one before, which are noted.
  package func withoutDuplicates(_ table: NodeTable) throws(PersistenceError) -> NodeTable {
    let repeated = table.repeatedRows
    for row in repeated.sorted(by: { $0.rawValue < $1.rawValue }) { note(.repeated(row, in: table)) }
    return try table.keeping { !repeated.contains($0) }
  }
}

extension SalvageReport.Loss {
  static func repeated(_ row: RowID, in table: NodeTable) -> SalvageReport.Loss {
    .init(
      .records,
      entity: table.entity.name,
      references: [table.reference(row)],
      count: 1,
      reason: "Another record before it has the same reference."
    )
  }
}

extension NodeTable {
  /// The rows of records that have the same reference as one before. O(records).
  var repeatedRows: Set<RowID> {
    var seen: Set<ReferenceID> = []
    seen.reserveCapacity(count)
    return Set(liveRows.filter { !seen.insert(reference($0)).inserted })
  }
}

extension [Range<Int>] {
  /// Whether one of the ranges, which ascend and do not overlap, has something in common with `range`.
  package func overlaps(_ range: Range<Int>) -> Bool {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if self[middle].upperBound <= range.lowerBound { low = middle + 1 } else { high = middle }
    }
    return low < endIndex && self[low].lowerBound < range.upperBound && !range.isEmpty
  }
}

extension SalvageReport.Loss {
  /// What an error says, as a loss.
  package init(
    _ kind: Kind,
    _ error: any Error,
    entity: String? = nil,
    references: [ReferenceID] = [],
    count: Int?,
    byteRange: Range<Int>? = nil
  ) {
    guard let error = error as? PersistenceError else {
      self.init(kind, entity: entity, references: references, count: count, byteRange: byteRange, reason: "\(error)")
      return
    }
    let context = error.context
    self.init(
      kind,
      entity: context.entity ?? entity,
      property: context.property,
      references: references,
      count: count,
      line: context.line,
      byteRange: byteRange ?? context.byteOffset.map { $0..<($0 + 1) },
      reason: error.message
    )
  }
}

// MARK: NodeTable: salvaging

extension NodeTable {
  /// A table with the records alone in whose rows `condition` holds, one behind the other. O(rows).
  package func keeping(_ condition: (RowID) -> Bool) throws(PersistenceError) -> NodeTable {
    let others = liveRows.filter { !condition($0) }
    guard !others.isEmpty else { return self }
    return try NodeTable(entity: entity, joining: groups(without: others))
  }

  /// The groups, in which some rows count as deleted.
  package func groups(without rows: [RowID]) -> [RowGroup] {
    var kept = groups
    for (ordinal, rows) in Dictionary(grouping: rows, by: \.group) {
      kept[ordinal] = kept[ordinal].deleting(rows.map(\.row))
    }
    return kept
  }

  /// A table with the records of `groups` that have not been deleted, one behind the other.
  package init(entity: EntityDescription, joining groups: [RowGroup]) throws(PersistenceError) {
    let builder = TableBuilder(entity: entity)
    for group in groups { try builder.append(liveRowsOf: group) }
    self = builder.finish()
  }
}
