/// A part of a region, whose bounds were checked when it was made.
package struct ByteSlice: Sendable {
  package let region: ByteRegion
  package let offset: Int
  package let count: Int

  /// The whole of `region`.
  package init(_ region: ByteRegion) {
    self.region = region
    self.offset = 0
    self.count = region.count
  }

  /// The `count` bytes of `region` from `offset` on, or nil where the region has no such bytes.
  package init?(_ region: ByteRegion, offset: Int, count: Int) {
    guard offset >= 0, count >= 0, offset <= region.count, count <= region.count - offset else { return nil }
    self.region = region
    self.offset = offset
    self.count = count
  }

  /// The bytes, valid as long as the region is.
  package var unsafeBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: region.unsafeBytes[offset..<(offset + count)])
  }

  /// Where the bytes begin. An empty slice has a place too, which must not be read.
  package var unsafeBase: UnsafeRawPointer { region.unsafeBytes.baseAddress.unsafelyUnwrapped + offset }

  package static let empty = ByteSlice(ByteRegion.copying(UnsafeRawBufferPointer(start: nil, count: 0)))
}
