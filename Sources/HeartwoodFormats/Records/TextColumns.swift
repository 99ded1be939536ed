package import HeartwoodStore

/// The columns of a table of text: their titles, how wide they are, and at which side their texts stand.
package struct TextColumns: Sendable {
  package struct Column: Sendable {
    var title: String
    var isRightAligned: Bool
    /// How many cells of a terminal the column takes.
    fileprivate(set) var width: Int

    package init(title: String, isRightAligned: Bool = false) {
      self.title = title
      self.isRightAligned = isRightAligned
      self.width = DisplayText.width(of: title)
    }
  }

  private static let gap = 2
  /// Columns are not made narrower than this.
  private static let minimumWidth = 6

  private(set) var columns: [Column]

  package init(_ columns: [Column]) {
    self.columns = columns
  }

  /// Makes each column at least as wide as `widths` says.
  mutating func widen(to widths: [Int]) {
    for (index, width) in widths.enumerated() { columns[index].width = max(columns[index].width, width) }
  }

  /// Makes each column at least as wide as the widest of its cells.
  package mutating func widen(to lines: [[String]]) {
    for line in lines { widen(to: line.map { DisplayText.width(of: $0) }) }
  }

  /// Makes the widest columns narrower until a line takes no more than `width` cells, or all are as narrow as can be.
  package mutating func fit(into width: Int) {
    let room = width - Self.gap * (columns.count - 1)
    var limit = columns.map(\.width).max() ?? 0
    while limit > Self.minimumWidth, columns.reduce(0, { $0 + min($1.width, limit) }) > room { limit -= 1 }
    for index in columns.indices { columns[index].width = min(columns[index].width, limit) }
  }
}

extension TextColumns {
  /// Appends the titles and a rule below them.
  package func appendHeader(to output: GrowableBytes) {
    append(columns.map(\.title), to: output)
    append(columns.map { String(repeating: "-", count: $0.width) }, to: output)
  }

  /// Appends a line of `cells`, one for each column.
  package func append(_ cells: [String], to output: GrowableBytes) {
    appendLine(to: output) { index, cell in cell.append(text: cells[index]) }
  }

  /// Appends a line.
  ///
  /// - Parameter fill: appends the text of the column with an index to a buffer.
  func appendLine(to output: GrowableBytes, _ fill: (Int, GrowableBytes) -> Void) {
    let cell = GrowableBytes()
    var owed = 0
    for (index, column) in columns.enumerated() {
      cell.removeAll()
      fill(index, cell)
      let text = UnsafeRawBufferPointer(cell.unsafeMutableBytes)
      let room = column.width - min(column.width, DisplayText.width(of: text))
      // Blanks are owed until a text follows, so that no line ends in them.
      if text.isEmpty {
        owed += column.width + Self.gap
        continue
      }
      output.append(repeating: UInt8(ascii: " "), count: owed + (column.isRightAligned ? room : 0))
      let used = DisplayText.append(text, limit: column.width, to: output)
      owed = Self.gap + (column.isRightAligned ? 0 : column.width - used)
    }
    output.append(ascii: "\n")
  }
}

extension DisplayText {
  /// How many cells of a terminal the text takes.
  static func width(of text: String) -> Int {
    var text = text
    return text.withUTF8 { width(of: UnsafeRawBufferPointer($0)) }
  }
}
