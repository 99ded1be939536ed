import HeartwoodFormats
import HeartwoodFoundation
import HeartwoodModel

/// What a `contents` file says, with the lines on which it says it, before the model is checked.
struct DataModelSource {
  let url: URL
  /// The outermost element.
  let root: XMLElement
  var entities: [EntityDefinition] = []
  var configurations: [String: [String]] = [:]
  var versionIdentifiers: [String] = []
  var fetchRequestTemplates: [FetchRequestTemplate] = []
  var notes: [DataModelFile.Note] = []
  /// The lines of each entity and what is in it, in the order of ``entities``.
  var entityLines: [EntityLines] = []
  var configurationLines: [String: Int] = [:]
  var fetchRequestLines: [Int?] = []

  struct EntityLines {
    let entity: Int?
    var properties: [Int?] = []
    var uniquenessConstraints: [Int?] = []
    var fetchIndexes: [Int?] = []
    var fetchedProperties: [Int?] = []
  }

  /// Reads the model at `location`.
  static func read(_ location: DataModelLocation) throws(ModelFileError) -> DataModelSource {
    let bytes = try DataModelBundle.bytes(of: location.url)
    // Whoever has renamed a file still has what is in it.
    if location.form == .contents, !bytes.starts(with: PropertyListFormat.binaryMagic) {
      return try contents(bytes, location.url)
    }
    do {
      return location.form == .elements ? try legacy(bytes, location.url) : try compiled(bytes, location.url)
    } catch let error as ArchiveError {
      throw ModelFileError(file: location.url.path, error, "The model")
    } catch let error as ModelFileError {
      throw error
    } catch {
      throw ModelFileError(file: location.url.path, "\(error)")
    }
  }

  private static func contents(_ bytes: [UInt8], _ url: URL) throws(ModelFileError) -> DataModelSource {
    let root: XMLElement
    do {
      root = try XMLTreeParser.parse(bytes)
    } catch {
      throw ModelFileError(file: url.path, error)
    }
    return try DataModelReader.read(url, root)
  }

  private static func legacy(_ bytes: [UInt8], _ url: URL) throws -> DataModelSource {
    let (root, notes) = try LegacyModelReader.read(bytes)
    var source = try DataModelReader.read(url, root)
    source.notes += notes.map { DataModelFile.Note(line: nil, message: $0) }
    return source
  }

  /// Reads a compiled model, from a file or from where a store keeps the one that it was written with.
  static func compiled(_ bytes: [UInt8], _ url: URL) throws -> DataModelSource {
    let contents = try CompiledModelReader.read(bytes)
    var source = try DataModelReader.read(url, contents.root)
    source.versionIdentifiers = contents.versionIdentifiers
    source.notes += contents.notes.map { DataModelFile.Note(line: nil, message: $0) }
    return source
  }

  /// Makes the model. What no record depends on, and is at fault, is left out and noted: an index, a fetch request, a fetched property.
  ///
  /// - Throws: ``ModelFileError`` with all other faults.
  mutating func model() throws(ModelFileError) -> ManagedObjectModel {
    do throws(ModelValidationError) {
      return try checkedModel()
    } catch {
      guard leaveOut(error.faults) else { throw self.error(for: error) }
      do throws(ModelValidationError) { return try checkedModel() } catch { throw self.error(for: error) }
    }
  }

  private func checkedModel() throws(ModelValidationError) -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: entities,
      configurations: configurations,
      versionIdentifiers: versionIdentifiers,
      fetchRequestTemplates: fetchRequestTemplates
    )
  }

  /// Takes away what is at fault, the last first, unless there are faults of what records depend on.
  private mutating func leaveOut(_ faults: [ModelFault]) -> Bool {
    guard faults.allSatisfy(\.location.isBesideRecords) else { return false }
    for fault in faults {
      notes.append(DataModelFile.Note(line: line(of: fault.location), message: "\(fault) It is left out of the model."))
    }
    for location in Set(faults.map(\.location)).sorted(by: { $0.place > $1.place }) {
      switch location {
      case .fetchIndex(let entity, let index):
        entities[entity].fetchIndexes.remove(at: index)
        entityLines[entity].fetchIndexes.remove(at: index)
      case .fetchedProperty(let entity, let index):
        entities[entity].fetchedProperties.remove(at: index)
        entityLines[entity].fetchedProperties.remove(at: index)
      case .fetchRequest(let index):
        fetchRequestTemplates.remove(at: index)
        fetchRequestLines.remove(at: index)
      default: break
      }
    }
    notes.sort { ($0.line ?? 0) < ($1.line ?? 0) }
    return true
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
    case .fetchIndex(let entity, let index): entityLines[entity].fetchIndexes[index]
    case .fetchedProperty(let entity, let index): entityLines[entity].fetchedProperties[index]
    case .configuration(let name): configurationLines[name]
    case .fetchRequest(let index): fetchRequestLines[index]
    }
  }
}

extension ModelFault.Location {
  /// Whether records are the same without what is there.
  fileprivate var isBesideRecords: Bool { place >= 0 }

  /// The place in its list; -1 where records depend on it.
  fileprivate var place: Int {
    switch self {
    case .fetchIndex(_, let index), .fetchedProperty(_, let index), .fetchRequest(let index): index
    default: -1
    }
  }
}
