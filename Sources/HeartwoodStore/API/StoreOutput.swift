import Synchronization

/// The new file that a store writes, from its beginning to its end.
///
/// Small writes are buffered. The file gets its name only after everything has been written, so the old file stays as
/// it was if the store throws while it writes.
public final class StoreOutput {
  private static let bufferCapacity = 1 << 18

  private let file: any WritableFile
  private let buffer = GrowableBytes(capacity: StoreOutput.bufferCapacity)
  /// The number of bytes that have been written so far: the offset of the next write.
  public private(set) var byteCount = 0
  /// The first failed write. It is thrown again later, so that a store that continues after it does not end up with a
  /// file that has a gap.
  private var failure: PersistenceError?

  package init(_ file: any WritableFile) {
    self.file = file
  }

  /// Writes the UTF-8 bytes of `text`.
  ///
  /// - Throws: ``PersistenceError`` if the system cannot write the file. Since writes are buffered, this may be the
  ///   error of an earlier write.
  public func write(_ text: String) throws(PersistenceError) {
    var text = text
    try writing(text.utf8.count) { buffer in text.withUTF8 { buffer.append(UnsafeRawBufferPointer($0)) } }
  }

  /// Writes `bytes`. It throws as ``write(_:)-(String)`` does.
  public func write(_ bytes: [UInt8]) throws(PersistenceError) {
    try writing(bytes.count) { buffer in bytes.withUnsafeBytes { buffer.append($0) } }
  }

  private func writing(_ count: Int, _ append: (GrowableBytes) -> Void) throws(PersistenceError) {
    append(buffer)
    byteCount += count
    if buffer.count >= Self.bufferCapacity { try flush() }
  }

  /// Writes `bytes`. Many bytes at once are written to the file without being copied.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(PersistenceError) {
    byteCount += bytes.count
    if bytes.count >= Self.bufferCapacity {
      try flush()
      try hand(bytes)
    } else {
      buffer.append(bytes)
      if buffer.count >= Self.bufferCapacity { try flush() }
    }
  }

  /// Writes the bytes of `slice`. Many bytes at once are written to the file without being copied.
  public func write(_ slice: ByteSlice) throws(PersistenceError) {
    try withExtendedLifetime(slice) { () throws(PersistenceError) in try write(slice.unsafeBytes) }
  }

  /// Writes the buffered bytes to the file.
  package func flush() throws(PersistenceError) {
    if let failure { throw failure }
    guard buffer.count > 0 else { return }
    try hand(UnsafeRawBufferPointer(buffer.unsafeMutableBytes))
    buffer.removeAll()
  }

  private func hand(_ bytes: UnsafeRawBufferPointer) throws(PersistenceError) {
    do throws(PersistenceError) {
      try file.write(bytes)
    } catch {
      failure = error
      throw error
    }
  }
}

extension StoreOutput {
  private static let copyChunk = 1 << 20

  /// Writes all bytes of `input`.
  func write(contentsOf input: StoreInput) throws(PersistenceError) {
    var offset = 0
    while offset < input.size {
      let bytes = try input.bytes(from: offset, count: Self.copyChunk)
      guard !bytes.isEmpty else {
        throw PersistenceError(
          .fileChangedOnDisk,
          "The file was cut short while it was read.",
          context: .init(path: input.path)
        )
      }
      try write(bytes)
      offset += bytes.count
    }
  }
}

// MARK: CollectingFile

/// A file that collects in memory what a store writes.
package final class CollectingFile: WritableFile {
  package let path: String
  private let bytes = Mutex<[UInt8]>([])

  package init(path: String) {
    self.path = path
  }

  package func write(_ bytes: UnsafeRawBufferPointer) throws(PersistenceError) {
    self.bytes.withLock { $0.append(contentsOf: bytes) }
  }

  package func synchronize() throws(PersistenceError) {}

  package func close() throws(PersistenceError) {}

  /// Returns what was written, and removes it.
  package func takeBytes() -> ByteSlice {
    let taken = bytes.withLock { bytes in
      defer { bytes = [] }
      return bytes
    }
    return ByteSlice(taken.withUnsafeBytes { ByteRegion.copying($0) })
  }
}
