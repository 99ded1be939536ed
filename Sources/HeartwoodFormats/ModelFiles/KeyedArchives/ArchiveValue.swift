#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value of a property list, with the references by which keyed archives lead from object to object.
indirect enum ArchiveValue: Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case date(Date)
  case string(String)
  case data(Data)
  case array([ArchiveValue])
  case dictionary([String: ArchiveValue])
  /// The number of another object of the archive.
  case reference(Int)
}

extension ArchiveValue {
  /// How deep values may be nested in a single object of an archive; objects lead to each other by number.
  static let deepestNesting = 32
  /// How many values an archive may have, those that stand in several places counted for each.
  static let mostValues = 4_000_000
}

/// Why a file is no keyed archive that is read here.
struct ArchiveError: Error {
  let message: String
  /// Where in a binary file, in bytes.
  var offset: Int?
  /// Where in an XML file, from 1.
  var line: Int?
}
