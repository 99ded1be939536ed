import Foundation
import TestSupport

/// The samples that belong to the specification of the binary format.
///
/// Set HEARTWOOD_WRITE_SAMPLES to have those written that are not there yet; one that is there is never changed.
enum SampleFiles {
  static let format = FormatFolder("Binary").url
  static let folder = format.appending(path: "samples")

  static func bytes(_ name: String, orNew make: () throws -> [UInt8]) throws -> [UInt8] {
    try FormatFolder("Binary").bytes(name, orNew: make)
  }
}
