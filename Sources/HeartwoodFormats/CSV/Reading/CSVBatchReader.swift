import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Turns the fields of a batch into values, one column after another, and appends them to a group of rows.
///
/// An unsafe place: fields lie inside the window that they were found in, and the values of a batch fit into the scratch memory,
/// which has room for ``CSVBatch/capacity`` of the widest.
final class CSVBatchReader {
  /// A field that cannot be read: its row in the batch, and why.
  struct Failure {
    var row: Int
    var column: Int
    var reason: String
  }

  let schema: CSVSchema
  let references: CSVReferenceText
  let scratch: UnsafeMutableRawPointer
  /// A byte for each row: 0 where it has no value.
  let flags: UnsafeMutablePointer<UInt8>
  var hasNulls = false
  var dates = DateTextReader()
  /// Whether references must be UUIDs where they may be. What was taken for one is not to be read as something else.
  var takesOnlyUUIDs = true

  init(schema: CSVSchema) {
    self.schema = schema
    references = CSVReferenceText(allowsBareStrings: schema.layout.allowsBareStringReferences)
    scratch = .allocate(byteCount: CSVBatch.capacity * MemoryLayout<uuid_t>.stride, alignment: 16)
    flags = .allocate(capacity: CSVBatch.capacity)
    flags.initialize(repeating: 1, count: CSVBatch.capacity)
  }

  deinit {
    scratch.deallocate()
    flags.deallocate()
  }

  /// Appends the batch to `builder`; on a failure `builder` is of no more use. Returns the failure that comes first in the file.
  func read(_ batch: CSVBatch, in window: CSVWindow, into builder: RowGroupBuilder) -> Failure? {
    if batch.hasEscapes { unescape(batch, in: window) }
    var first: Failure?
    for column in schema.columns.indices {
      guard let failure = read(column, of: batch, in: window, into: builder) else { continue }
      if first.map({ failure.row < $0.row }) ?? true { first = failure }
    }
    for ordinal in schema.absentOrdinals { builder.columns[ordinal].appendNulls(batch.rowCount) }
    return first
  }

  private func read(_ column: Int, of batch: CSVBatch, in window: CSVWindow, into builder: RowGroupBuilder) -> Failure?
  {
    let fields = CSVColumnFields(batch, column, window)
    let row: (row: Int, reason: String)?
    switch schema.columns[column].content {
    case .ignored: row = nil
    case .reference: row = readReferences(fields, into: builder)
    case .attribute(let ordinal, let type): row = read(type, fields, into: builder.columns[ordinal])
    case .relationship(let ordinal, let isToMany):
      row =
        isToMany
        ? readToMany(fields, into: builder.columns[ordinal]) : readToOne(fields, into: builder.columns[ordinal])
    }
    return row.map { Failure(row: $0.row, column: column, reason: $0.reason) }
  }

  /// Makes one quote of two in all fields that hold such.
  private func unescape(_ batch: CSVBatch, in window: CSVWindow) {
    for index in 0..<(batch.rowCount * batch.columnCount) where batch.fields[index].hasEscapes {
      let field = batch.fields[index]
      let text = UnsafeMutableRawBufferPointer(start: window.base + field.start, count: field.count)
      batch.fields[index] = CSVField(
        quotedStart: field.start,
        end: field.start + CSVEscapes.remove(text),
        hasEscapes: false
      )
    }
  }
}
