import HeartwoodFormats
public import HeartwoodFoundation
public import HeartwoodModel
import HeartwoodStore

/// A mapping model of Xcode's: read from an `.xcmappingmodel` folder, from the `xcmapping.xml` in it, or from what its compiler makes of it, a
/// `.cdm`.
///
///     let file = try MappingModelFile(contentsOf: URL(filePath: "ToDoToToDo2.xcmappingmodel"))
///     options[.mappingModels] = [try file.mappingModel(forSourceModel: old, destinationModel: new)]
public struct MappingModelFile: Sendable {
  /// The folder or file that was read.
  public let url: URL
  /// The name of the version that the mapping model leads from, as the file has it; nil if it tells none. Compiled ones have the version
  /// hashes of the entities instead.
  public let sourceVersion: String?
  /// The name of the version that the mapping model leads to, as the file has it; nil where it tells none.
  public let destinationVersion: String?
  /// What the file says and cannot be represented, each with the mapping, the property and the text. A file with any is not made a mapping model:
  /// ``mappingModel(forSourceModel:destinationModel:)`` throws.
  public let notes: [String]
  private let drafts: [EntityMappingDraft]

  /// Reads the mapping model at `url`. O(n) in the size of the file.
  ///
  /// - Throws: ``ModelFileError`` with the file and the reason.
  public init(contentsOf url: URL) throws(ModelFileError) {
    self.url = url
    if url.path.hasSuffix(Self.compiledSuffix) {
      let reader = try Self.compiled(url)
      (sourceVersion, destinationVersion) = (nil, nil)
      (drafts, notes) = (reader.entityMappings, reader.problems.texts)
      return
    }
    var reader = try MappingModelReader(Self.document(url))
    sourceVersion = reader.version("sourcemodelpath")
    destinationVersion = reader.version("destinationmodelpath")
    drafts = reader.entityMappings()
    notes = reader.problems.texts
  }

  static let compiledSuffix = ".cdm"

  private static func compiled(_ url: URL) throws(ModelFileError) -> CompiledMappingReader {
    do {
      let file = try StoreInput(try POSIXFileSystem().openFile(atPath: url.path))
      return try CompiledMappingReader(try file.bytes())
    } catch let error as ArchiveError {
      throw ModelFileError(file: url.path, error, "The compiled mapping model")
    } catch let error as PersistenceError {
      throw ModelFileError(file: url.path, error.message)
    } catch {
      throw ModelFileError(file: url.path, "The mapping model cannot be read. \(error)")
    }
  }

  private static func document(_ url: URL) -> URL {
    var isFolder = false
    _ = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
    return isFolder ? url.appending(path: "xcmapping.xml") : url
  }

  /// The mapping model between two versions: what the file leaves to Xcode is filled in as Xcode does, and the version hashes of the
  /// entities are those of the models.
  ///
  /// An attribute or relationship without an expression of its own has that of the source's property of the same name, where there
  /// is one.
  ///
  /// - Throws: ``ModelFileError`` if the file says something that cannot be represented (``notes``), or if the mapping model names what the models
  ///   do not have or has expressions that do not fit them.
  public func mappingModel(
    forSourceModel source: ManagedObjectModel,
    destinationModel destination: ManagedObjectModel
  ) throws(ModelFileError) -> MappingModel {
    guard notes.isEmpty else {
      throw ModelFileError(
        file: url.path,
        "The mapping model cannot be followed, because it says what is not represented here: \(notes.joined(separator: "; ")). Nothing was migrated: a "
          + "part of it would be lost. Change it, or write it in code as a MappingModel."
      )
    }
    let mapping = MappingModel(entityMappings: drafts.map { $0.completed(source, destination) })
    let faults = mapping.faults(from: source, to: destination)
    guard faults.isEmpty else {
      throw ModelFileError(
        file: url.path,
        "The mapping model does not fit the models: \(faults.joined(separator: "; "))."
      )
    }
    return mapping
  }
}

extension MappingModelFile {
  /// Whether a model may be the one that the mapping model leads to: it has the destinations in the versions that the file tells.
  func mayLead(to model: ManagedObjectModel) -> Bool {
    drafts.allSatisfy { draft in
      guard let name = draft.mapping.destinationEntityName else { return true }
      guard let entity = model.entity(named: name) else { return false }
      return EntityMappingDraft.hash(draft.mapping.destinationEntityVersionHash, of: entity) == entity.versionHash
    }
  }

  /// Whether the file tells the versions of entities.
  var hasHashes: Bool { drafts.contains { $0.mapping.destinationEntityVersionHash != nil } }
}

// MARK: MappingProblems

/// What a file says and no mapping does, each with the mapping and property that it is said of.
struct MappingProblems {
  private(set) var texts: [String] = []

  mutating func append(_ text: String) { texts.append(text) }

  mutating func appendSourceExpression(of mapping: String) {
    append("\(mapping): the source expression, by which it fetches its records, is not understood")
  }

  /// The condition that the records of a mapping meet; nil if all do, or if the format is not understood, which is a problem.
  mutating func predicate(format: String, of mapping: String) -> FetchPredicate? {
    do {
      let predicate = try FetchPredicate(format: format)
      return predicate == .literal(true) ? nil : predicate
    } catch {
      append("\(mapping): the filter predicate “\(format)” is not understood: \(error)")
      return nil
    }
  }

  /// The author's notes, as far as they are texts. Others mean nothing to a migration, unless a policy reads them.
  ///
  /// - Parameter isReadable: Whether `members` are all that there is.
  mutating func userInfo(
    _ members: [(key: String, value: ArchiveNode)],
    isReadable: Bool = true,
    _ place: String,
    isReadByPolicy: Bool
  ) -> [String: String] {
    let texts = members.compactMap { key, value in value.string.map { (key, $0) } }
    if texts.count < members.count || !isReadable, isReadByPolicy {
      append("\(place): the user info, which its policy may read, cannot be represented")
    }
    return Dictionary(texts, uniquingKeysWith: { first, _ in first })
  }
}

// MARK: EntityMappingDraft

/// The mapping of an entity as a file has it.
struct EntityMappingDraft: Sendable {
  /// A property, and whether its expression is left to Xcode where there is none.
  struct Property: Sendable {
    var mapping: PropertyMapping
    let isGenerated: Bool
    /// The mapping that makes what a generated relationship leads to; nil means whichever does.
    let sourceMappingName: String?
  }

  var mapping: EntityMapping
  let attributes: [Property]
  let relationships: [Property]

  /// The name of a mapping that may have none of its own.
  static func name(_ name: String?, from source: String?, to destination: String?) -> String {
    name ?? [source, destination].compactMap(\.self).joined(separator: "To")
  }

  func completed(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) -> EntityMapping {
    let old = mapping.sourceEntityName.flatMap(source.entity(named:))
    let new = mapping.destinationEntityName.flatMap(destination.entity(named:))
    var completed = mapping
    completed.sourceEntityVersionHash = Self.hash(mapping.sourceEntityVersionHash, of: old)
    completed.destinationEntityVersionHash = Self.hash(mapping.destinationEntityVersionHash, of: new)
    completed.attributeMappings = attributes.map { property in
      complete(property) { name in
        old?.property(named: name)?.attribute.map { .source($0.name) }
      }
    }
    completed.relationshipMappings = relationships.map { property in
      complete(property) { name in
        // That there is such a relationship is checked with the other expressions.
        if let mapping = property.sourceMappingName {
          return .destinationInstances(forEntityMappingNamed: mapping, sourceInstances: name)
        }
        return old?.property(named: name)?.relationship.map {
          .destinationInstances(forSourceRelationshipNamed: $0.name)
        }
      }
    }
    return completed
  }

  /// The hash that a file tells of an entity, or else that of the model's. How Core Data hashes derived attributes is not known, so a hash of
  /// an entity with some says nothing.
  static func hash(_ hash: Data?, of entity: EntityDescription?) -> Data? {
    guard let hash, entity?.hasDerivedAttributes != true else { return entity?.versionHash }
    return hash
  }

  private func complete(
    _ property: Property,
    _ expression: (String) -> MappingExpression?
  ) -> PropertyMapping {
    var mapping = property.mapping
    if mapping.valueExpression == nil, property.isGenerated { mapping.valueExpression = expression(mapping.name) }
    return mapping
  }
}
