import CoreDataRewriting
import Foundation
import HeartwoodModel
import HeartwoodModelFiles

/// The form of models that programs read: a folder `momd` with a file for each version.
enum CompiledModel {
  /// Compiles all versions of a model.
  ///
  /// - Throws: `ModelFileError` if a version cannot be read; `PreparationError` if it has something that no compiled
  ///   model can hold.
  static func write(modelAt url: URL, to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (version, model) in try DataModelFile.models(at: url) {
      guard let bytes = model.compiled() else {
        throw PreparationError("The version \(version) of \(url.path) cannot be compiled. It stays readable as it is.")
      }
      try Data(bytes).write(to: folder.appendingPathComponent(version + ".mom"))
    }
    let information = ["NSManagedObjectModel_CurrentVersionName": try DataModelFile.currentVersion(at: url)]
    let data = try PropertyListSerialization.data(fromPropertyList: information, format: .xml, options: 0)
    try data.write(to: folder.appendingPathComponent("VersionInfo.plist"))
  }

  /// Puts a mapping model where programs look for a compiled one. It stays in its own form, as a folder with the name of
  /// a compiled one, which `NSMappingModel` reads.
  static func write(mappingModelAt url: URL, to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let data = try Data(contentsOf: url.appendingPathComponent("xcmapping.xml"))
    try data.write(to: folder.appendingPathComponent("xcmapping.xml"))
  }
}
