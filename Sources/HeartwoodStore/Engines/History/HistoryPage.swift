import HeartwoodFoundation
import HeartwoodModel
import Synchronization

/// Several consecutive transactions as bytes, which a store keeps as they are: the section "History" of
/// `Formats/Binary` specifies them.
///
/// A page never changes: a save either adds a page to a store, or replaces the last one.
public final class HistoryPage: Sendable {
  /// The number of transactions; at least one.
  public let transactionCount: Int
  package let content: ByteSlice
  private let verifier: (any HistoryPageVerifier)?
  private let isVerified: Mutex<Bool>

  /// Makes a page of a file, whose bytes have not been checked.
  package init(_ content: ByteSlice, transactionCount: Int, verifier: any HistoryPageVerifier) {
    self.content = content
    self.transactionCount = transactionCount
    self.verifier = verifier
    self.isVerified = Mutex(false)
  }

  /// Makes a page of bytes that are known to be well formed.
  init(sound content: ByteSlice, transactionCount: Int) {
    self.content = content
    self.transactionCount = transactionCount
    self.verifier = nil
    self.isVerified = Mutex(true)
  }

  /// Makes a page of the bytes that a store has kept. O(bytes).
  ///
  /// - Throws: ``PersistenceError/Code/fileCorrupt`` if they are not `transactionCount` transactions.
  public convenience init(bytes: [UInt8], transactionCount: Int) throws(PersistenceError) {
    let content = bytes.withUnsafeBytes { ByteSlice(ByteRegion.copying($0)) }
    if let fault = Self.fault(in: content, transactionCount: transactionCount) {
      throw PersistenceError(
        .fileCorrupt,
        "The history was cut short or altered: \(fault.what), at byte \(fault.offset) of a page.",
        recovery: .restoreCopy
      )
    }
    self.init(sound: content, transactionCount: transactionCount)
  }

  /// A copy of the bytes, for a store to keep. A store reads it while it saves, when all pages have been checked.
  public var bytes: [UInt8] { Array(content.unsafeBytes) }
}

/// Checks a page that lies in a file, before it is used.
package protocol HistoryPageVerifier: Sendable {
  /// Checks checksum and content.
  func verify() throws(PersistenceError)
}

extension HistoryPage {
  /// The least number of bytes of a transaction.
  package static let minimumTransactionLength = HistoryEntry.minimumLength

  /// The number of bytes from which a page gets no more transactions.
  static let fullByteCount = 1 << 16

  /// Returns the fault in bytes that should be a page, or nil. O(bytes).
  package static func fault(in content: ByteSlice, transactionCount: Int) -> HistoryFault? {
    do throws(HistoryFault) {
      guard transactionCount > 0 else { throw HistoryFault("a page of the history has no transaction", at: 0) }
      var cursor = HistoryCursor(content)
      for _ in 0..<transactionCount { try HistoryEntry(&cursor, number: 0).checkRecords() }
      try cursor.expectEnd("bytes follow the last transaction of a page of the history")
      return nil
    } catch {
      return error
    }
  }

  /// Checks that the page may be read; after the first success it returns at once.
  func verify() throws(PersistenceError) {
    try isVerified.withLock { isVerified throws(PersistenceError) in
      if isVerified { return }
      try verifier?.verify()
      isVerified = true
    }
  }

  /// Returns the transactions of a page that has been verified; `first` is the number of the first one.
  func entries(from first: Int64) -> [HistoryEntry] {
    var cursor = HistoryCursor(content)
    return (0..<transactionCount).map { index in
      do throws(HistoryFault) {
        return try HistoryEntry(&cursor, number: first + Int64(index))
      } catch {
        preconditionFailure("A page of the history is verified before it is read.")
      }
    }
  }

  /// Returns the page with one more transaction at its end.
  func appending(_ transaction: ByteSlice) -> HistoryPage {
    let bytes = GrowableBytes(capacity: content.count + transaction.count)
    bytes.append(content.unsafeBytes)
    bytes.append(transaction.unsafeBytes)
    return HistoryPage(sound: bytes.sealed(), transactionCount: transactionCount + 1)
  }

  /// Returns the page, which has been verified, without its first `count` transactions. It must have more than these.
  func removingFirst(_ count: Int) -> HistoryPage {
    let start = entries(from: 1)[count].start
    let rest = UnsafeRawBufferPointer(rebasing: content.unsafeBytes[start...])
    return HistoryPage(sound: ByteSlice(ByteRegion.copying(rest)), transactionCount: transactionCount - count)
  }
}

// MARK: HistoryRun

/// Records of one entity that a transaction changed in the same way, as they lie in a page or as a store has read them.
package struct HistoryRun: Sendable {
  /// The least length: the length of 8 bytes, the kind, the layout, zeros, two counts, the least entity name, and the
  /// shortest reference.
  static let minimumLength = 8 + 4 + 4 + 4 + 5 + 4

  let kind: PersistentHistoryChange.ChangeType
  let count: Int
  let entityName: String
  /// The names of the updated properties, or of those whose values the tombstones hold.
  let propertyNames: [String]
  private let records: Records

  private enum Records: Sendable {
    /// The bytes of a page.
    case page(HistoryCursor, ReferenceColumn.Layout)
    case read([ReferenceID], preservedValues: [[PropertyValue]])
  }

  init(_ changes: RecordedChanges) {
    kind = changes.kind
    count = changes.references.count
    entityName = changes.entityName
    propertyNames = changes.propertyNames
    records = .read(changes.references, preservedValues: changes.preservedValues)
  }

  init(_ transaction: inout HistoryCursor) throws(HistoryFault) {
    var cursor = try transaction.part()
    let place = cursor.position
    let kind = PersistentHistoryChange.ChangeType(rawValue: try cursor.number(UInt8.self))
    let layout = ReferenceColumn.Layout(rawValue: try cursor.number(UInt8.self))
    let zeros = try cursor.number(UInt16.self)
    count = Int(try cursor.number(UInt32.self))
    let propertyCount = Int(try cursor.number(UInt32.self))
    guard let kind, let layout, zeros == 0, count > 0, kind != .insert || propertyCount == 0 else {
      throw HistoryFault("changes in the history are described incorrectly", at: place)
    }
    self.kind = kind
    entityName = try cursor.name()
    var names: [String] = []
    for _ in 0..<propertyCount { names.append(try cursor.name()) }
    guard Set(names).count == names.count else { throw HistoryFault("a property is named twice", at: place) }
    propertyNames = names
    records = .page(cursor, layout)
  }
}

// MARK: Records

extension HistoryRun {
  private var hasTombstones: Bool { kind == .delete && !propertyNames.isEmpty }

  /// Calls `body` with each record's reference and its preserved values, in the order of ``propertyNames``. The page
  /// must have been verified.
  func forEachRecord(_ body: (ReferenceID, [PropertyValue]) -> Void) {
    switch records {
    case .read(let references, let values):
      for (index, reference) in references.enumerated() {
        body(reference, hasTombstones && values.indices.contains(index) ? values[index] : [])
      }
    case .page(let cursor, let layout):
      do throws(HistoryFault) {
        try readRecords(cursor, layout, body)
      } catch {
        preconditionFailure("A page of the history is verified before it is read.")
      }
    }
  }

  /// Checks that the records can be read.
  func checkRecords() throws(HistoryFault) {
    guard case .page(let cursor, let layout) = records else { return }
    guard let width = layout.width, !hasTombstones else { return try readRecords(cursor, layout) { _, _ in } }
    guard cursor.remainingCount == count * width else {
      throw HistoryFault("the history has another number of changes than it declares", at: cursor.position)
    }
  }

  private func readRecords(
    _ records: HistoryCursor,
    _ layout: ReferenceColumn.Layout,
    _ body: (ReferenceID, [PropertyValue]) -> Void
  ) throws(HistoryFault) {
    var cursor = records
    for _ in 0..<count {
      let reference = try Self.reference(&cursor, layout)
      var values: [PropertyValue] = []
      if hasTombstones {
        for _ in propertyNames { values.append(try HistoryValueCoding.value(&cursor)) }
      }
      body(reference, values)
    }
    try cursor.expectEnd("bytes follow the last change")
  }

  private static func reference(
    _ cursor: inout HistoryCursor,
    _ layout: ReferenceColumn.Layout
  ) throws(HistoryFault) -> ReferenceID {
    switch layout {
    case .integer: return .integer(try cursor.number(Int64.self))
    case .uuid: return .uuid(UUID(uuid: try cursor.number(uuid_t.self)))
    case .string: return .string(try cursor.text())
    case .mixed: return try mixedReference(&cursor)
    }
  }

  private static func mixedReference(_ cursor: inout HistoryCursor) throws(HistoryFault) -> ReferenceID {
    let place = cursor.position
    switch try cursor.number(UInt8.self) {
    case ReferenceColumn.Layout.integer.rawValue: return .integer(try cursor.number(Int64.self))
    case ReferenceColumn.Layout.uuid.rawValue: return .uuid(UUID(uuid: try cursor.number(uuid_t.self)))
    case ReferenceColumn.Layout.string.rawValue: return .string(try cursor.text())
    default: throw HistoryFault("a reference in the history is of an unknown kind", at: place)
    }
  }

  /// The same records, copied out of the page.
  var recorded: RecordedChanges {
    var changes = RecordedChanges(kind, entityName: entityName, propertyNames: propertyNames, references: [])
    changes.references.reserveCapacity(count)
    forEachRecord { reference, values in
      changes.references.append(reference)
      if hasTombstones { changes.preservedValues.append(values) }
    }
    return changes
  }
}

// MARK: HistoryEntry

/// A transaction as it lies in a page, or as a store has read it.
package struct HistoryEntry: Sendable {
  /// The least length: the length of 8 bytes, the date, two empty texts, and the least run.
  static let minimumLength = 8 + 8 + 4 + 4 + HistoryRun.minimumLength

  let number: Int64
  /// The time of the save, in seconds since 2001-01-01 00:00 UTC.
  let seconds: Double
  let author: String?
  let contextName: String?
  /// The parts of the save's origin that a page does not hold.
  private(set) var bundleID: String?
  private(set) var processID: String?
  let runs: [HistoryRun]
  /// The offset in its page at which it begins.
  let start: Int

  init(_ transaction: RecordedTransaction) {
    number = transaction.number
    seconds = transaction.date.timeIntervalSinceReferenceDate
    author = transaction.author
    contextName = transaction.contextName
    bundleID = transaction.bundleID
    processID = transaction.processID
    runs = transaction.changes.map(HistoryRun.init)
    start = 0
  }

  /// The same transaction, copied out of the page.
  var recorded: RecordedTransaction {
    RecordedTransaction(
      number: number,
      date: Date(timeIntervalSinceReferenceDate: seconds),
      author: author,
      contextName: contextName,
      bundleID: bundleID,
      processID: processID,
      changes: runs.map(\.recorded)
    )
  }

  init(_ page: inout HistoryCursor, number: Int64) throws(HistoryFault) {
    self.number = number
    start = page.position
    var cursor = try page.part()
    let place = cursor.position
    seconds = try cursor.number(Double.self)
    guard seconds.isFinite else { throw HistoryFault("a transaction of the history has no date", at: place) }
    author = try cursor.optionalText()
    contextName = try cursor.optionalText()
    var runs: [HistoryRun] = []
    while cursor.remainingCount > 0 { runs.append(try HistoryRun(&cursor)) }
    guard !runs.isEmpty else { throw HistoryFault("a transaction of the history has no change", at: place) }
    self.runs = runs
  }

  /// Checks the parts that reading the transaction skips: the references and tombstones of its records.
  func checkRecords() throws(HistoryFault) {
    for run in runs { try run.checkRecords() }
  }
}
