/// What is wrong with bytes that should be a page of a history, and where.
package struct HistoryFault: Error, Sendable {
  package let what: String
  /// In the page.
  package let offset: Int

  init(_ what: String, at offset: Int) {
    self.what = what
    self.offset = offset
  }
}
