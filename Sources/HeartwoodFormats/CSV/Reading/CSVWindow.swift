import HeartwoodStore

/// A part of the file in memory, used again for the next part.
///
/// An unsafe place: ``base`` has ``count`` bytes of text, and ``padding`` line feeds after them. So a scan for the end of a line
/// stops within the padding, and words may be read from any place of the text on.
final class CSVWindow {
  static let padding = 64

  let file: StoreInput
  private(set) var base: UnsafeMutableRawPointer
  private var capacity: Int
  /// How many bytes there are. Where the file's last line has no end, it gets one here.
  private(set) var count = 0
  /// Where the bytes begin in the file.
  private(set) var fileOffset = 0
  private var byteCount = 0

  init(file: StoreInput) {
    self.file = file
    self.capacity = 1 << 12
    self.base = UnsafeMutableRawPointer.allocate(byteCount: capacity + Self.padding, alignment: 64)
  }

  deinit {
    base.deallocate()
  }

  /// Whether nothing follows in the file.
  var reachesEnd: Bool { fileOffset + byteCount >= file.size }

  /// Takes `size` bytes of the file from `offset` on, fewer where it ends.
  func load(from offset: Int, size: Int) throws(PersistenceError) {
    fileOffset = offset
    byteCount = 0
    try extend(to: size)
  }

  /// Takes the bytes behind those that are there, until there are `size`.
  func extend(to size: Int) throws(PersistenceError) {
    let target = min(size, file.size - fileOffset)
    // Places in the window are kept in 31 bits, and the end of the last line may be one behind it.
    guard target < CSVField.greatestPlace else { throw tooLarge }
    reserve(target)
    let room = UnsafeMutableRawBufferPointer(start: base + byteCount, count: target - byteCount)
    let read = try file.file.read(into: room, at: fileOffset + byteCount)
    guard read == room.count else {
      throw PersistenceError(
        .fileChangedOnDisk,
        "The file became shorter while it was read.",
        recovery: .openAgain,
        context: .init(path: file.path, storeType: .csv)
      )
    }
    byteCount = target
    count = target
    (base + target).initializeMemory(as: UInt8.self, repeating: CSVFormat.lineFeed, count: Self.padding)
    if reachesEnd, target > 0 { endLastLine() }
  }

  private var tooLarge: PersistenceError {
    PersistenceError(
      .capabilityMissing,
      "A part of the file that is read at once has 2 GiB or more.",
      recovery: "Set the option csvChunkSize to less, or leave it out.",
      context: .init(path: file.path, byteOffset: fileOffset, storeType: .csv)
    )
  }

  private func endLastLine() {
    let last = base.load(fromByteOffset: count - 1, as: UInt8.self)
    // The first byte of the padding ends the line. A carriage return would become part of a line end that the file has not.
    if last != CSVFormat.lineFeed, last != CSVFormat.carriageReturn { count += 1 }
  }

  private func reserve(_ size: Int) {
    guard size + 1 > capacity else { return }
    let larger = UnsafeMutableRawPointer.allocate(byteCount: size + 1 + Self.padding, alignment: 64)
    larger.copyMemory(from: base, byteCount: byteCount)
    base.deallocate()
    base = larger
    capacity = size + 1
  }

  /// The first line that begins at `start` or later and before `limit`, both places in the window.
  func lineStart(from start: Int, before limit: Int) -> Int? {
    let end = min(limit, count) - 1
    guard start - 1 < end else { return nil }
    let text = UnsafeRawBufferPointer(start: base + (start - 1), count: end - (start - 1))
    return text.firstIndex(of: CSVFormat.lineFeed).map { start + $0 }
  }
}
