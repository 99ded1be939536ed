import HeartwoodFormats
public import HeartwoodFoundation
public import HeartwoodModel
import HeartwoodStore

/// A mapping model as Xcode keeps it: read from an `.xcmappingmodel` folder, or from the `xcmapping.xml` in it.
///
/// What its compiler makes of one, a `.cdm`, is refused with an error.
public struct MappingModelFile: Sendable {
  /// The folder or file that was read.
  public let url: URL
  /// The name of the version that the mapping model leads from, as the file has it; nil where it tells none.
  public let sourceVersion: String?
  /// The name of the version that the mapping model leads to, as the file has it; nil where it tells none.
  public let destinationVersion: String?
  /// What the file says and cannot be represented, each with the mapping, the property and the text. A file with any is not made a mapping model:
  /// ``mappingModel(forSourceModel:destinationModel:)`` throws.
  public let notes: [String]
  private let drafts: [EntityMappingDraft]

  /// Reads the mapping model at `url`.
  ///
  /// - Throws: ``ModelFileError`` with the file and the reason.
  public init(contentsOf url: URL) throws(ModelFileError) {
    var reader = try MappingModelReader(Self.document(url))
    self.url = url
    sourceVersion = reader.version("sourcemodelpath")
    destinationVersion = reader.version("destinationmodelpath")
    drafts = reader.entityMappings()
    notes = reader.problems
  }

  static let compiledSuffix = ".cdm"
  static let compiledProblem = "This is a compiled mapping model, whose form is not known: it cannot be read."

  private static func document(_ url: URL) throws(ModelFileError) -> URL {
    if url.path.hasSuffix(compiledSuffix) {
      throw ModelFileError(file: url.path, "\(compiledProblem) Give the .xcmappingmodel that it was made of.")
    }
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

  func completed(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) -> EntityMapping {
    let old = mapping.sourceEntityName.flatMap(source.entity(named:))
    let new = mapping.destinationEntityName.flatMap(destination.entity(named:))
    var completed = mapping
    completed.sourceEntityVersionHash = old?.versionHash
    completed.destinationEntityVersionHash = new?.versionHash
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

  private func complete(
    _ property: Property,
    _ expression: (String) -> MappingExpression?
  ) -> PropertyMapping {
    var mapping = property.mapping
    if mapping.valueExpression == nil, property.isGenerated { mapping.valueExpression = expression(mapping.name) }
    return mapping
  }
}
