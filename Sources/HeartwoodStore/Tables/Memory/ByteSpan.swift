/// A part of some bytes.
package struct ByteSpan: BitwiseCopyable {
  var start: UInt32
  var end: UInt32

  @inline(__always)
  package init(start: UInt32, end: UInt32) {
    self.start = start
    self.end = end
  }
}
