import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The metadata as JSON, the same bytes for the same metadata.
enum BinaryMetadataCoding {
  private static let infinity = "inf"
  private static let negativeInfinity = "-inf"
  private static let notANumber = "nan"

  static func encode(_ metadata: StoreMetadata) throws -> ByteSlice {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: infinity,
      negativeInfinity: negativeInfinity,
      nan: notANumber
    )
    return ByteSlice(copying: try encoder.encode(metadata))
  }

  /// The metadata that `bytes` stand for, or nil where they stand for none.
  static func decode(_ bytes: ByteSlice) -> StoreMetadata? {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: infinity,
      negativeInfinity: negativeInfinity,
      nan: notANumber
    )
    return try? decoder.decode(StoreMetadata.self, from: bytes.data)
  }
}

extension ByteSlice {
  init(copying data: Data) {
    self = data.withUnsafeBytes { ByteSlice(ByteRegion.copying($0)) }
  }

  /// A copy of the bytes.
  var data: Data { Data(unsafeBytes) }
}
