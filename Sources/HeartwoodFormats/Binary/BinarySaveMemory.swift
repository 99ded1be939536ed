import HeartwoodStore

/// What the groups of a store look like in its file, kept from one save to the next, so that only what has changed is checked
/// and hashed again.
struct BinarySaveMemory: Sendable {
  /// By the identity of a group. An image holds its group, so the identity is not given to another one.
  private var images: [ObjectIdentifier: BinaryGroupImage] = [:]
  /// By the identity of a page, which its image holds.
  private var pages: [ObjectIdentifier: BinaryHistoryImage] = [:]

  init() {}

  /// The images of the groups that `contents` have, and not of those that were put together to be written; and those of the
  /// pages of the history.
  init(_ images: [BinaryGroupImage], _ pages: [BinaryHistoryImage], of contents: StoreContents) {
    let groups = Set(contents.tables.flatMap { $0.groups.map(ObjectIdentifier.init) })
    for image in images where groups.contains(ObjectIdentifier(image.group)) { note(image) }
    for image in pages { note(image) }
  }

  /// The image of `group`, where it was written or read before.
  func image(of group: RowGroup) -> BinaryGroupImage? { images[ObjectIdentifier(group)] }

  /// The image of `page`, where it was written or read before.
  func image(of page: HistoryPage) -> BinaryHistoryImage? { pages[ObjectIdentifier(page)] }

  mutating func note(_ image: BinaryHistoryImage) {
    pages[ObjectIdentifier(image.page)] = image
  }

  /// Notes the pages of a history that was read from `file`. Their checksums have not been held against their bytes yet; no save
  /// begins before that is done.
  mutating func note(_ history: StoreHistory?, in file: BinaryFile) {
    guard let history, let first = file.directory.history?.firstSection else { return }
    for (place, page) in history.pages.enumerated() {
      note(BinaryHistoryImage(page, checksum: file.directory.sections[first + place].checksum))
    }
  }

  mutating func note(_ image: BinaryGroupImage) {
    images[ObjectIdentifier(image.group)] = image
  }

  /// Notes a group that was read from `file`. Its checksums have not been held against its bytes yet; no save begins before
  /// that is done.
  mutating func note(
    _ group: RowGroup,
    _ entry: BinaryDirectory.Group,
    in file: BinaryFile,
    columns: [BinaryDirectory.Column]
  ) {
    let sections = (0..<entry.sectionLengths(columns).count).map { entry.firstSection + $0 }
    note(
      BinaryGroupImage(
        group: group,
        entry: entry,
        parts: sections.map { .init(bytes: file.bytes(ofSection: $0), checksum: file.directory.sections[$0].checksum) }
      )
    )
  }
}
