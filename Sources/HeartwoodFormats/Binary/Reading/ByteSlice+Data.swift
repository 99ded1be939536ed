import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ByteSlice {
  init(copying data: Data) {
    self = data.withUnsafeBytes { ByteSlice(ByteRegion.copying($0)) }
  }

  /// A copy of the bytes.
  var data: Data { Data(unsafeBytes) }
}
