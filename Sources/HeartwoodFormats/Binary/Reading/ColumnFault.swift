import HeartwoodStore

/// What is wrong with a column or with references, and where in the bytes that hold them.
struct ColumnFault: Sendable {
  let what: String
  /// The offset in the region of the bytes; for a mapped file, in the file.
  let offset: Int

  init(_ what: String, in bytes: ByteSlice, at place: Int = 0) {
    self.what = what
    self.offset = bytes.offset + place
  }
}
