import Synchronization

/// Where a store writes its file, from the beginning to the end.
///
/// Small writes are gathered. The file takes its name only after everything has been written, so a store that throws while it
/// writes leaves the old file as it was.
public final class StoreOutput {
  private static let bufferCapacity = 1 << 18

  private let file: any WritableFile
  private let buffer = GrowableBytes(capacity: StoreOutput.bufferCapacity)
  /// How many bytes have been written.
  public private(set) var byteCount = 0
  /// Why the file is not whole any more. A store that goes on after a failed write must not end up with a file that has a hole.
  private var failure: PersistenceError?

  package init(_ file: any WritableFile) {
    self.file = file
  }

  /// Writes the UTF-8 bytes of `text`.
  public func write(_ text: String) throws(PersistenceError) {
    var text = text
    try writing(text.utf8.count) { buffer in text.withUTF8 { buffer.append(UnsafeRawBufferPointer($0)) } }
  }

  /// Writes `bytes`.
  public func write(_ bytes: [UInt8]) throws(PersistenceError) {
    try writing(bytes.count) { buffer in bytes.withUnsafeBytes { buffer.append($0) } }
  }

  private func writing(_ count: Int, _ append: (GrowableBytes) -> Void) throws(PersistenceError) {
    append(buffer)
    byteCount += count
    if buffer.count >= Self.bufferCapacity { try flush() }
  }

  /// Writes `bytes`; large runs go to the file without being copied.
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

  /// Writes the bytes of `slice`, and holds them until that is done. Large ones are not copied.
  public func write(_ slice: ByteSlice) throws(PersistenceError) {
    try withExtendedLifetime(slice) { () throws(PersistenceError) in try write(slice.unsafeBytes) }
  }

  /// Hands what has been gathered to the file.
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

/// Gathers in memory what a store writes.
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

  /// What was written; this becomes empty.
  package func takeBytes() -> ByteSlice {
    let taken = bytes.withLock { bytes in
      defer { bytes = [] }
      return bytes
    }
    return ByteSlice(taken.withUnsafeBytes { ByteRegion.copying($0) })
  }
}
