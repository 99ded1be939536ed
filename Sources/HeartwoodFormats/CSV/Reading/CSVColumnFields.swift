/// One column of a batch.
struct CSVColumnFields {
  private let first: UnsafeMutablePointer<CSVField>
  private let stride: Int
  let count: Int
  let text: UnsafeRawPointer
  let window: CSVWindow

  init(_ batch: CSVBatch, _ column: Int, _ window: CSVWindow) {
    first = batch.fields + column
    stride = batch.columnCount
    count = batch.rowCount
    text = UnsafeRawPointer(window.base)
    self.window = window
  }

  @inline(__always)
  subscript(row: Int) -> CSVField { first[row &* stride] }

  @inline(__always)
  func bytes(_ field: CSVField) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: text + field.start, count: field.count)
  }
}
