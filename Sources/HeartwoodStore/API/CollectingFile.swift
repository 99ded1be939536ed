import Synchronization

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
