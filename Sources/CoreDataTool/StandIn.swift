import CoreDataRewriting
import Foundation

/// A small module that stands in for one of Apple's in tests.
struct StandIn {
  /// The name of the module: `CombineStandIn`.
  private let name: String
  private let source: URL

  /// Returns the modules that are there. Their sources are among the resources of the command.
  static func all() throws -> [StandIn] {
    guard let folder = Bundle.module.url(forResource: "StandIns", withExtension: nil) else {
      throw PreparationError("The resources of heartwood-coredata are not beside it. Build it again.")
    }
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
      let source = folder.appendingPathComponent(name)
      return StandIn(name: source.deletingPathExtension().lastPathComponent + "StandIn", source: source)
    }
  }

  /// The code of the module.
  func object(in folder: URL) -> URL { folder.appendingPathComponent("\(name).o") }

  /// Returns the command that compiles the module.
  func compiling(into folder: URL) throws -> [String] {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return [
      "swiftc", "-parse-as-library", "-swift-version", "6", "-enable-upcoming-feature", "InternalImportsByDefault",
      "-c", "-wmo", "-module-name", name, "-emit-module", "-emit-module-path",
      folder.appendingPathComponent(name + ".swiftmodule").path, "-o", object(in: folder).path, source.path,
    ]
  }
}
