import Foundation
import HeartwoodModelFiles
import HeartwoodModel
import HeartwoodTesting

/// Reads models in the forms that they come in.
enum ModelTrial {
  static func readFile(_ bytes: [UInt8], named name: String) throws {
    let scratch = try ScratchFolder()
    try check(try DataModelFile(contentsOf: try file(bytes, named: name, in: scratch)).model)
  }

  static func readJSON(_ bytes: [UInt8]) throws {
    try check(try ManagedObjectModel(encoded: Data(bytes)))
  }

  static func readMapping(_ bytes: [UInt8]) throws {
    let scratch = try ScratchFolder()
    let url = try file(bytes, named: "Mapping.xcmappingmodel/xcmapping.xml", in: scratch)
    let model = try TrialModel.model.get()
    let mapping = try MappingModelFile(contentsOf: url)
    do {
      _ = try mapping.mappingModel(forSourceModel: model, destinationModel: model)
    } catch {
      // It was read, and is for other models.
    }
  }

  private static func file(_ bytes: [UInt8], named name: String, in scratch: ScratchFolder) throws -> URL {
    let url = scratch.url.appending(path: name)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url)
    return url
  }

  /// What was read is a model like any other: it has hashes, and can be written.
  private static func check(_ model: ManagedObjectModel) throws {
    for entity in model.entities { _ = entity.versionHash }
    let again = try ManagedObjectModel(encoded: model.encoded())
    try ParserTrial.jsonModel.expect(again == model, "reads its own JSON as another model")
  }
}
