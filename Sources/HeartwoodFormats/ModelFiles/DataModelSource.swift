import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a `contents` file says, with the lines on which it says it, before the model is checked.
struct DataModelSource {
  let url: URL
  var entities: [EntityDefinition] = []
  var configurations: [String: [String]] = [:]
  var versionIdentifiers: [String] = []
  var notes: [DataModelFile.Note] = []
  /// The lines of each entity and what is in it, in the order of ``entities``.
  var entityLines: [EntityLines] = []
  var configurationLines: [String: Int] = [:]

  struct EntityLines {
    let entity: Int
    var properties: [Int] = []
    var uniquenessConstraints: [Int] = []
  }

  /// Reads the `contents` file at `url`.
  static func read(_ url: URL) throws(ModelFileError) -> DataModelSource {
    let root: XMLElement
    do {
      root = try XMLTreeParser.parse(DataModelBundle.bytes(of: url))
    } catch let error as XMLSyntaxError {
      throw ModelFileError(file: url.path, error)
    } catch let error as ModelFileError {
      throw error
    } catch {
      throw ModelFileError(file: url.path, "\(error)")
    }
    var reader = DataModelReader(url)
    return try reader.read(root)
  }

  /// The faults of the model, each with the line of what is at fault.
  func error(for validation: ModelValidationError) -> ModelFileError {
    ModelFileError(
      file: url.path,
      problems: validation.faults.map { fault in
        ModelFileError.Problem(line: line(of: fault.location), column: nil, message: fault.description)
      }
    )
  }

  private func line(of location: ModelFault.Location) -> Int? {
    switch location {
    case .entity(let entity): entityLines[entity].entity
    case .property(let entity, let index): entityLines[entity].properties[index]
    case .uniquenessConstraint(let entity, let index): entityLines[entity].uniquenessConstraints[index]
    case .configuration(let name): configurationLines[name]
    }
  }
}
