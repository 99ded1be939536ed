import HeartwoodStore

/// What a page of the history looks like in a file: its bytes as they are, and their checksum.
struct BinaryHistoryImage: Sendable {
  let page: HistoryPage
  private let checksum: UInt64

  init(_ page: HistoryPage, checksum: UInt64) {
    self.page = page
    self.checksum = checksum
  }

  var part: BinaryGroupImage.Part { .init(bytes: page.content, checksum: checksum) }
}
