@_spi(CoreDataFiles) import HeartwoodFormats
import HeartwoodFoundation
import HeartwoodModel

/// The contents of a model file with line numbers, before the model is validated.
struct DataModelSource {
  let url: URL
  /// The outermost element.
  let root: XMLElement
  var entities: [EntityDefinition] = []
  var configurations: [String: [String]] = [:]
  var versionIdentifiers: [String] = []
  var fetchRequestTemplates: [FetchRequestTemplate] = []
  var notes: [DataModelFile.Note] = []
  /// The lines of the entities and their parts, in the order of ``entities``.
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
    // The contents decide, in case the file has been renamed.
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

  /// Reads a compiled model, from a file or from a store that contains it.
  static func compiled(_ bytes: [UInt8], _ url: URL) throws -> DataModelSource {
    let contents = try CompiledModelReader.read(bytes)
    var source = try DataModelReader.read(url, contents.root)
    source.versionIdentifiers = contents.versionIdentifiers
    source.notes += contents.notes.map { DataModelFile.Note(line: nil, message: $0) }
    return source
  }

  /// Makes the model. Faulty indexes, fetch requests and fetched properties, on which no record depends, are left out
  /// and noted.
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

  /// Removes what is at fault, beginning with the last, and returns true. Returns false if records depend on any of it.
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

  /// Returns an error with all faults of the model and their lines.
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
  /// Whether no record depends on what is at the location.
  fileprivate var isBesideRecords: Bool { place >= 0 }

  /// The index in its list; -1 if records depend on it.
  fileprivate var place: Int {
    switch self {
    case .fetchIndex(_, let index), .fetchedProperty(_, let index), .fetchRequest(let index): index
    default: -1
    }
  }
}
