import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The samples that belong to the specification of the format.
///
/// Set HEARTWOOD_WRITE_SAMPLES to have those written that are not there yet; one that is there is never changed.
enum SampleFiles {
  static let format = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Formats/Binary")
  static let folder = format.appending(path: "samples")

  static func bytes(_ name: String, orNew make: () throws -> [UInt8]) throws -> [UInt8] {
    let url = folder.appending(path: name)
    if !FileManager.default.fileExists(atPath: url.path),
      ProcessInfo.processInfo.environment["HEARTWOOD_WRITE_SAMPLES"] != nil
    {
      try Data(try make()).write(to: url)
    }
    return [UInt8](try Data(contentsOf: url))
  }
}
