#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The metadata as JSON, the same bytes for the same metadata.
extension StoreMetadata {
  private static let infinity = "inf"
  private static let negativeInfinity = "-inf"
  private static let notANumber = "nan"

  /// The metadata that `json` stands for, or nil where it stands for none.
  package init?(json: Data) {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: Self.infinity,
      negativeInfinity: Self.negativeInfinity,
      nan: Self.notANumber
    )
    // try?: nil says that these are no metadata, and callers throw that.
    guard let metadata = try? decoder.decode(StoreMetadata.self, from: json) else { return nil }
    self = metadata
  }

  package func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: Self.infinity,
      negativeInfinity: Self.negativeInfinity,
      nan: Self.notANumber
    )
    return try encoder.encode(self)
  }
}
