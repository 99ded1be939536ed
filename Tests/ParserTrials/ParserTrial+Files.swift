package import Foundation

extension ParserTrial {
  /// Bytes that the parser takes: samples of formats, and `Tests/ParserTrialsTests/Seeds`.
  ///
  /// - Parameter root: the folder of the package.
  package func seeds(under root: URL) throws -> [Sample] {
    let samples = try formatFolder.map { try Sample.files(in: root.appending(path: "Formats/\($0)/samples")) } ?? []
    return try samples.filter { !Self.isNoSample($0.name) }
      + Sample.files(in: root.appending(path: "Tests/ParserTrialsTests/Seeds/\(rawValue)"))
  }

  /// Bytes that the parser once did wrong with.
  package func findings(under root: URL) throws -> [Sample] {
    try Sample.files(in: root.appending(path: "Tests/ParserTrialsTests/Findings/\(rawValue)"))
  }

  private var formatFolder: String? {
    switch self {
    case .binary: "Binary"
    case .csv: "CSV"
    case .xml: "XML"
    case .propertyList: "PropertyList"
    case .coreDataBinary: "CoreDataBinary"
    default: nil
    }
  }

  /// Beside the samples lies what they hold.
  private static func isNoSample(_ name: String) -> Bool { name.hasSuffix(".jsonl") || name.hasSuffix(".md") }

  /// A file.
  package struct Sample: Sendable {
    package let name: String
    package let bytes: [UInt8]

    /// The files of a folder by name, if it is there.
    static func files(in folder: URL) throws -> [Sample] {
      let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
      return try (names ?? []).sorted().compactMap { name in
        let url = folder.appending(path: name)
        guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { return nil }
        return Sample(name: name, bytes: [UInt8](try Data(contentsOf: url)))
      }
    }
  }
}
