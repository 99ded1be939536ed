public import HeartwoodModel

/// A store that can read the undamaged records of a damaged file, and report what was lost.
///
/// A store of any kind may conform. A store that does not is read as usual: the records that it has added to its loader
/// before it failed are kept, and its error says what is wrong. A store whose records can be read one by one can do
/// better:
///
///     extension JSONLinesStore: SalvagingStore {
///       func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
///         for (number, line) in lines(of: file) {
///           salvage.addNode(reference(of: line), to: entity, line: number) { node in try node.setValue(…, forKey: …) }
///         }
///       }
///     }
///
/// The store need not check links between records: the framework then drops and reports links to records that do not
/// exist, and makes inverses agree.
public protocol SalvagingStore: AnyObject, Sendable {
  /// Reads the undamaged records into the loader of `salvage`, and notes everything else there. A value that cannot be
  /// read is noted and left nil; a record that cannot be read is noted and left out. The store must not invent values.
  ///
  /// An incremental store is not connected when this is called.
  ///
  /// - Throws: an error if nothing can be read: the file is of another type, or a part is missing without which the
  ///   rest cannot be understood.
  func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws
}

// MARK: StoreSalvage

/// Collects what a store reads from a damaged file: the undamaged records, and what is wrong with the others.
public final class StoreSalvage {
  /// Collects the records and the metadata.
  public let loader: StoreLoader
  /// Parts of the file that cannot be trusted, in ascending order: a wrapper around the store knows that their bytes
  /// were changed or are missing.
  public let unsoundRanges: [Range<Int>]
  /// The losses that have been noted, in order.
  public private(set) var losses: [SalvageReport.Loss] = []

  /// The relationships that the file keeps only as their inverses, so that changes of them are not reported.
  private(set) var derivedRelationships: Set<RelationshipSide> = []

  package init(_ loader: StoreLoader, unsoundRanges: [Range<Int>] = []) {
    self.loader = loader
    self.unsoundRanges = unsoundRanges
  }

  /// Notes a loss.
  public func note(_ loss: SalvageReport.Loss) {
    losses.append(loss)
  }

  /// Notes an error as a loss, with the error's entity, property, line and byte.
  ///
  /// - Parameters:
  ///   - count: the number of records, values or links that were lost; nil if it is unknown.
  ///   - byteRange: their place in the file; nil means the byte in the error's context, if there is one.
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

  /// Adds a record as ``StoreLoader/addNode(_:to:version:_:)`` does. If that throws, the error is noted, and the record
  /// is left out.
  ///
  /// - Returns: whether the record was added.
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

  /// Notes that the file keeps a relationship only as its inverse, so that links which the framework adds to make both
  /// agree are no losses.
  ///
  /// - Parameter ordinal: the ordinal of the relationship in `entity`.
  public func noteDerived(_ ordinal: Int, of entity: EntityDescription) {
    derivedRelationships.insert(RelationshipSide(entity.declaring(ordinal), ordinal))
  }

  /// Returns whether some bytes of `range` cannot be trusted. O(log ranges).
  public func isUnsound(_ range: Range<Int>) -> Bool { unsoundRanges.overlaps(range) }
}

// MARK: Stores inside of others

extension StoreSalvage {
  /// Reads the undamaged records with another store: the one inside a wrapper, for which the file is, or was made from,
  /// the wrapper's file.
  ///
  /// - Parameters:
  ///   - store: a store that salvages files itself, or that is loaded as usual until it fails.
  ///   - format: the store's format.
  ///   - unsoundRanges: parts of `file` whose bytes were changed or are missing, in ascending order. A store that does
  ///     not salvage files itself reads what is before the first of them.
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

  /// Reads the undamaged records with a store whose class is its own format: see
  /// ``read(_:of:from:options:unsoundRanges:)``.
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
  /// Returns a table without records that have the same reference as an earlier one, which are noted.
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
  /// The rows of records that have the same reference as an earlier one. O(records).
  var repeatedRows: Set<RowID> {
    var seen: Set<ReferenceID> = []
    seen.reserveCapacity(count)
    return Set(liveRows.filter { !seen.insert(reference($0)).inserted })
  }
}

extension [Range<Int>] {
  /// Returns whether one of the ranges overlaps `range`. The ranges ascend and do not overlap each other.
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
  /// Creates a loss from an error, with the error's entity, property, line and byte.
  ///
  /// - Parameters:
  ///   - count: the number of records, values or links that were lost; nil if it is unknown.
  ///   - byteRange: their place in the file; nil means the byte in the error's context, if there is one.
  public init(
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
  /// Returns a table with only the records in rows that meet `condition`, without gaps. O(rows).
  package func keeping(_ condition: (RowID) -> Bool) throws(PersistenceError) -> NodeTable {
    let others = liveRows.filter { !condition($0) }
    guard !others.isEmpty else { return self }
    return try NodeTable(entity: entity, joining: groups(without: others))
  }

  /// Returns the groups, with some rows marked as deleted.
  package func groups(without rows: [RowID]) -> [RowGroup] {
    var kept = groups
    for (ordinal, rows) in Dictionary(grouping: rows, by: \.group) {
      kept[ordinal] = kept[ordinal].deleting(rows.map(\.row))
    }
    return kept
  }

  /// Creates a table with the records of `groups` that have not been deleted, without gaps.
  package init(entity: EntityDescription, joining groups: [RowGroup]) throws(PersistenceError) {
    let builder = TableBuilder(entity: entity)
    for group in groups { try builder.append(liveRowsOf: group) }
    self = builder.finish()
  }
}
