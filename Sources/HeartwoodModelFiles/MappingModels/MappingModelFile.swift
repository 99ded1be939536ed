@_spi(CoreDataFiles) import HeartwoodFormats
public import HeartwoodFoundation
public import HeartwoodModel
import HeartwoodStore

/// A mapping model of Xcode: an `.xcmappingmodel` folder, the `xcmapping.xml` in it, or the output of its compiler, a
/// `.cdm` file.
///
///     let file = try MappingModelFile(contentsOf: URL(filePath: "ToDoToToDo2.xcmappingmodel"))
///     options[.mappingModels] = [try file.mappingModel(forSourceModel: old, destinationModel: new)]
public struct MappingModelFile: Sendable {
  /// The folder or file that was read.
  public let url: URL
  /// The name of the version from which the mapping model migrates; nil if the file does not contain it. Compiled files
  /// contain the version hashes of the entities instead.
  public let sourceVersion: String?
  /// The name of the version to which the mapping model migrates; nil if the file does not contain it.
  public let destinationVersion: String?
  /// What cannot be represented, each with the mapping, the property and the text. If there is anything,
  /// ``mappingModel(forSourceModel:destinationModel:)`` throws.
  public let notes: [String]
  private let drafts: [EntityMappingDraft]

  /// Reads a mapping model. O(n) in the size of the file.
  ///
  /// - Throws: ``ModelFileError`` with the file and the reason.
  public init(contentsOf url: URL) throws(ModelFileError) {
    self.url = url
    if url.path.hasSuffix(Self.compiledSuffix), !Self.isFolder(url) {
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
    isFolder(url) ? url.appending(path: "xcmapping.xml") : url
  }

  private static func isFolder(_ url: URL) -> Bool {
    var isFolder = false
    return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder
  }

  /// The mappings as they are in the file, without the expressions that it leaves out.
  package var draft: MappingModel { MappingModel(entityMappings: drafts.map(\.written)) }

  /// Returns the mapping model between two versions of a model. Expressions that the file leaves out are filled in as
  /// Xcode does, and the version hashes of the entities are those of the models.
  ///
  /// An attribute or relationship without an expression gets the value of the source's property with the same name, if
  /// there is one.
  ///
  /// - Throws: ``ModelFileError`` if the file contains something that cannot be represented (``notes``), or if the
  ///   mapping model names entities or properties that the models do not have, or has expressions that do not fit them.
  public func mappingModel(
    forSourceModel source: ManagedObjectModel,
    destinationModel destination: ManagedObjectModel
  ) throws(ModelFileError) -> MappingModel {
    guard notes.isEmpty else {
      throw ModelFileError(
        file: url.path,
        "The mapping model cannot be followed, because a part of it is not represented here: \(notes.joined(separator: "; ")). Nothing was migrated: that "
          + "part would be lost. Change it, or write it in code as a MappingModel."
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
  /// Returns whether the mapping model may migrate to a model: the model has the destination entities, with the version
  /// hashes in the file.
  func mayLead(to model: ManagedObjectModel) -> Bool {
    drafts.allSatisfy { draft in
      guard let name = draft.mapping.destinationEntityName else { return true }
      guard let entity = model.entity(named: name) else { return false }
      return EntityMappingDraft.hash(draft.mapping.destinationEntityVersionHash, of: entity) == entity.versionHash
    }
  }

  /// Whether the file contains version hashes of entities.
  var hasHashes: Bool { drafts.contains { $0.mapping.destinationEntityVersionHash != nil } }
}

// MARK: MappingProblems

/// The parts of a file that cannot be represented, each with the mapping and the property.
struct MappingProblems {
  private(set) var texts: [String] = []

  mutating func append(_ text: String) { texts.append(text) }

  mutating func appendSourceExpression(of mapping: String) {
    append("\(mapping): the source expression, by which it fetches its records, is not understood")
  }

  /// Returns the condition for the records of a mapping. It is nil if the condition is always true, or if the format is
  /// not understood, which is a problem.
  mutating func predicate(format: String, of mapping: String) -> FetchPredicate? {
    do {
      let predicate = try FetchPredicate(format: format)
      return predicate == .literal(true) ? nil : predicate
    } catch {
      append("\(mapping): the filter predicate “\(format)” is not understood: \(error)")
      return nil
    }
  }

  /// Returns the entries of the user info whose values are strings. Other entries have no meaning for a migration,
  /// unless a policy reads them, which is a problem.
  ///
  /// - Parameter isReadable: whether `members` are all entries.
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

/// The mapping of an entity, before missing expressions are filled in.
struct EntityMappingDraft: Sendable {
  /// A property mapping, and whether a missing expression is filled in.
  struct Property: Sendable {
    var mapping: PropertyMapping
    let isGenerated: Bool
    /// The mapping whose results a generated relationship refers to; nil for any mapping.
    let sourceMappingName: String?
  }

  var mapping: EntityMapping
  let attributes: [Property]
  let relationships: [Property]

  /// Returns the name of a mapping, or the default name if it has none.
  static func name(_ name: String?, from source: String?, to destination: String?) -> String {
    name ?? [source, destination].compactMap(\.self).joined(separator: "To")
  }

  /// The mapping as it is in the file.
  var written: EntityMapping {
    var written = mapping
    written.attributeMappings = attributes.map(\.mapping)
    written.relationshipMappings = relationships.map(\.mapping)
    return written
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
        // Whether there is such a relationship is checked with the other expressions.
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

  /// Returns the version hash of an entity in the file, or that of the model if there is none. Core Data's hash of
  /// derived attributes is not known, so the hash of an entity that has some is not compared.
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
