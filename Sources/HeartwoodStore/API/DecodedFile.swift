/// Bytes in memory as a file to be read: what a wrapper of a store has made of a file on the disk.
package struct DecodedFile: ReadableFile {
  package let path: String
  private let bytes: ByteSlice
  private let fileStatus: FileStatus

  /// - Parameter file: the file that the bytes were made from. Its name and state are this one's.
  package init(_ bytes: ByteSlice, of file: StoreInput) {
    self.path = file.path
    self.bytes = bytes
    var status = file.status
    status.size = bytes.count
    self.fileStatus = status
  }

  package func status() throws(PersistenceError) -> FileStatus { fileStatus }

  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(PersistenceError) -> Int {
    guard offset >= 0, offset < bytes.count else { return 0 }
    let count = min(buffer.count, bytes.count - offset)
    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.unsafeBytes[offset..<(offset + count)]))
    return count
  }

  package func mapped() throws(PersistenceError) -> FileBytes {
    if bytes.offset == 0, bytes.count == bytes.region.count { return FileBytes(bytes.region) }
    return FileBytes(ByteRegion.copying(bytes.unsafeBytes))
  }
}
