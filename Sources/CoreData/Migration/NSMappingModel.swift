public import Foundation
import HeartwoodModel
import HeartwoodModelFiles

/// How a migration turns the records of one version of a model into those of another.
///
///     let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
///     let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
///     try manager.migrateStore(from: url, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
///       toDestinationURL: newURL, destinationType: NSSQLiteStoreType, destinationOptions: nil)
open class NSMappingModel: NSObject {
  /// The file that the mapping model was read from. It is completed when the models are known.
  private final var file: MappingModelFile?
  /// The mappings as they were read or inferred.
  private final var original: MappingModel?

  /// The mappings of entities, in the order in which a migration follows them.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  open var entityMappings: [NSEntityMapping]! = []

  /// The mappings of entities by name.
  open var entityMappingsByName: [String: NSEntityMapping] {
    Dictionary((entityMappings ?? []).map { ($0.name ?? "", $0) }) { first, _ in first }
  }

  /// Creates a mapping model without mappings.
  public override init() {}

  /// Reads a mapping model: a `cdm`, or Xcode's own `xcmappingmodel`. It returns nil if it cannot be read.
  public convenience init?(contentsOf url: URL?) {
    // try?: Core Data gives nil here.
    guard let url, let file = try? MappingModelFile(contentsOf: url) else { return nil }
    self.init(file)
  }

  /// Finds the mapping model between two versions in the resources of `bundles`; nil stands for the main bundle. It
  /// returns nil if there is none.
  public convenience init?(
    from bundles: [Bundle]?,
    forSourceModel sourceModel: NSManagedObjectModel?,
    destinationModel: NSManagedObjectModel?
  ) {
    guard let sourceModel, let destinationModel else { return nil }
    let found = MappingFiles(bundles ?? [.main]).first { $0.leads(from: sourceModel, to: destinationModel) }
    guard let found else { return nil }
    self.init(found.file)
  }

  /// Infers the mapping model between two versions, whose properties have the same names or renaming identifiers.
  ///
  /// - Throws: a `CocoaError` of the code `inferredMappingModel`, which lists what cannot be inferred.
  open class func inferredMappingModel(
    forSourceModel source: NSManagedObjectModel,
    destinationModel destination: NSManagedObjectModel
  ) throws -> NSMappingModel {
    do {
      return NSMappingModel(
        try MappingModel.inferredMappingModel(
          forSourceModel: try source.model(),
          destinationModel: try destination.model()
        )
      )
    } catch {
      throw CocoaError.make(.inferredMappingModel, "\(error)", error)
    }
  }

  private convenience init(_ file: MappingModelFile) {
    self.init(file.draft)
    self.file = file
  }

  convenience init(_ model: MappingModel) {
    self.init()
    original = model
    entityMappings = model.entityMappings.map(NSEntityMapping.init)
  }

  /// Returns the mapping model in the form that migrations use.
  ///
  /// - Throws: the reasons why it does not fit the models.
  final func model(from source: ManagedObjectModel, to destination: ManagedObjectModel) throws -> MappingModel {
    let present = try present()
    if let file, present == original {
      return try file.mappingModel(forSourceModel: source, destinationModel: destination)
    }
    return present
  }

  private final func present() throws -> MappingModel {
    MappingModel(entityMappings: try (entityMappings ?? []).map { try $0.mapping() })
  }

  // MARK: NSObject

  /// Returns whether the other mapping model has equal mappings.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSMappingModel else { return false }
    // try?: a mapping model with an expression that no migration understands equals itself alone.
    guard self !== other, let own = try? present(), let others = try? other.present() else { return self === other }
    return own == others
  }

  /// A number that equal mapping models share.
  open override var hash: Int { (entityMappings ?? []).reduce(0) { $0 ^ ($1.name?.hashValue ?? 0) } }
}

// MARK: NSEntityMapping

/// What a migration does with the records of an entity.
public enum NSEntityMappingType: UInt, Sendable {
  case undefinedEntityMappingType = 0
  case customEntityMappingType = 1
  case addEntityMappingType = 2
  case removeEntityMappingType = 3
  case copyEntityMappingType = 4
  case transformEntityMappingType = 5

  fileprivate static let types: [(NSEntityMappingType, EntityMapping.MappingType)] = [
    (.undefinedEntityMappingType, .undefined), (.customEntityMappingType, .custom), (.addEntityMappingType, .add),
    (.removeEntityMappingType, .remove), (.copyEntityMappingType, .copy), (.transformEntityMappingType, .transform),
  ]
}

/// How a migration treats the records of an entity.
open class NSEntityMapping: NSObject {
  /// The name, unique in the mapping model.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  open var name: String! = ""
  /// What a migration does with the records.
  open var mappingType = NSEntityMappingType.undefinedEntityMappingType
  /// The entity whose records are read.
  open var sourceEntityName: String?
  /// The required version hash of the source entity; nil stands for any.
  open var sourceEntityVersionHash: Data?
  /// The entity of the new records.
  open var destinationEntityName: String?
  /// The required version hash of the destination entity; nil stands for any.
  open var destinationEntityVersionHash: Data?
  /// The mappings of attributes.
  open var attributeMappings: [NSPropertyMapping]? = []
  /// The mappings of relationships.
  open var relationshipMappings: [NSPropertyMapping]? = []
  /// The author's own notes. Migrations hand on strings only.
  open var userInfo: [AnyHashable: Any]?
  /// The name of the class of the application's policy, a subclass of ``NSEntityMigrationPolicy``; nil stands for none.
  open var entityMigrationPolicyClassName: String?
  /// The condition on the records that are read.
  private var condition: FetchPredicate?

  /// Creates a mapping without entities.
  public override init() {}

  convenience init(_ mapping: EntityMapping) {
    self.init()
    name = mapping.name
    mappingType = NSEntityMappingType.types.first { $0.1 == mapping.mappingType }?.0 ?? .undefinedEntityMappingType
    sourceEntityName = mapping.sourceEntityName
    sourceEntityVersionHash = mapping.sourceEntityVersionHash
    destinationEntityName = mapping.destinationEntityName
    destinationEntityVersionHash = mapping.destinationEntityVersionHash
    attributeMappings = mapping.attributeMappings.map(NSPropertyMapping.init)
    relationshipMappings = mapping.relationshipMappings.map(NSPropertyMapping.init)
    userInfo = mapping.userInfo.isEmpty ? nil : mapping.userInfo
    entityMigrationPolicyClassName = mapping.entityMigrationPolicyClassName
    condition = mapping.sourcePredicate
  }

  final func mapping() throws -> EntityMapping {
    EntityMapping(
      name: name ?? "",
      mappingType: NSEntityMappingType.types.first { $0.0 == mappingType }?.1 ?? .undefined,
      sourceEntityName: sourceEntityName,
      destinationEntityName: destinationEntityName,
      sourceEntityVersionHash: sourceEntityVersionHash,
      destinationEntityVersionHash: destinationEntityVersionHash,
      sourcePredicate: condition,
      attributeMappings: try (attributeMappings ?? []).map { try $0.mapping() },
      relationshipMappings: try (relationshipMappings ?? []).map { try $0.mapping() },
      entityMigrationPolicyClassName: entityMigrationPolicyClassName,
      userInfo: userInfo.texts
    )
  }
}

// MARK: NSPropertyMapping

/// Where the value of a property of a new record comes from.
open class NSPropertyMapping: NSObject {
  /// The name of the property.
  open var name: String?
  /// The expression for the value. It can use `$source`, the record that is migrated, and `$manager`.
  open var valueExpression: NSExpression?
  /// The author's own notes. Migrations hand on strings only.
  open var userInfo: [AnyHashable: Any]?

  /// Creates a mapping without a property.
  public override init() {}

  convenience init(_ mapping: PropertyMapping) {
    self.init()
    name = mapping.name
    valueExpression = mapping.valueExpression.map(NSExpression.init(mapping:))
    userInfo = mapping.userInfo.isEmpty ? nil : mapping.userInfo
  }

  final func mapping() throws -> PropertyMapping {
    PropertyMapping(
      name: name ?? "",
      valueExpression: try valueExpression?.content.mappingExpression(),
      userInfo: userInfo.texts
    )
  }
}

extension [AnyHashable: Any]? {
  /// The entries that are strings.
  fileprivate var texts: [String: String] {
    var texts: [String: String] = [:]
    for case (let key as String, let value as String) in self ?? [:] { texts[key] = value }
    return texts
  }
}

// MARK: Expressions

extension NSExpression {
  /// Creates the expression of a mapping model.
  convenience init(mapping expression: MappingExpression) {
    switch expression {
    case .constant(let value): self.init(.constant(StoredValue.object(value, .undefined)))
    case .variable(let name): self.init(.variable(name))
    case .keyPath(of: .variable(let name), let path): self.init(.keyPath("$\(name).\(path)"))
    case .keyPath(let base, let path):
      self.init(.call(NSExpression(mapping: base), "valueForKeyPath:", [NSExpression(.constant(path))]))
    case .function(let target, let name, let arguments):
      self.init(.call(NSExpression(mapping: target), name, arguments.map(NSExpression.init(mapping:))))
    case .computed(let tree): self.init(FormatArguments.expression(of: tree).content)
    }
  }
}

extension ExpressionContent {
  private static let readers: Set<String> = ["valueForKey:", "valueForKeyPath:"]

  /// Returns the expression in the form of mapping models.
  ///
  /// - Throws: a `CocoaError` if no migration understands it.
  func mappingExpression() throws -> MappingExpression {
    switch self {
    case .constant(let value):
      guard case .constant(let stored) = try PredicateTree.argument(value ?? NSNull()) else {
        return .computed(try tree())
      }
      return .constant(stored)
    case .variable(let name): return .variable(name)
    case .keyPath(let path) where path.hasPrefix("$"):
      guard let dot = path.firstIndex(of: ".") else { return .variable(String(path.dropFirst())) }
      let name = path[path.index(after: path.startIndex)..<dot]
      return .keyPath(of: .variable(String(name)), String(path[path.index(after: dot)...]))
    case .call(let target, let name, let arguments):
      let target = try target.content.mappingExpression()
      if Self.readers.contains(name), arguments.count == 1, case .constant(let path as String) = arguments[0].content {
        return .keyPath(of: target, path)
      }
      return .function(on: target, name: name, try arguments.map { try $0.content.mappingExpression() })
    default: return .computed(try tree())
    }
  }
}

// MARK: MappingFiles

/// The mapping models in the resources of bundles, which are read one after the other.
private struct MappingFiles: Sequence {
  private let bundles: [Bundle]

  init(_ bundles: [Bundle]) { self.bundles = bundles }

  func makeIterator() -> some IteratorProtocol<PlacedMapping> {
    let versions = Versions(bundles)
    // try?: a file that cannot be read is none that is looked for.
    return urls.lazy.compactMap { try? MappingModelFile(contentsOf: $0) }
      .map { PlacedMapping(file: $0, versions: versions) }.makeIterator()
  }

  /// The files, each once: of a compiled mapping model and its source, the compiled one.
  private var urls: [URL] {
    var found: [String: URL] = [:]
    for type in ["xcmappingmodel", "cdm"] {
      for bundle in bundles {
        for url in bundle.urls(forResourcesWithExtension: type, subdirectory: nil) ?? [] {
          let url = url as URL
          found[url.deletingPathExtension().path] = url
        }
      }
    }
    return found.sorted { $0.key < $1.key }.map(\.value)
  }

  /// The versions of the models in bundles, by name.
  final class Versions {
    private let bundles: [Bundle]
    private lazy var models: [(version: String, model: ManagedObjectModel)] = ModelFiles.urls(in: bundles).flatMap {
      // try?: a model that cannot be read is none that a mapping model leads to.
      (try? DataModelFile.models(at: $0)) ?? []
    }

    init(_ bundles: [Bundle]) { self.bundles = bundles }

    /// Returns whether a model is the version of a name; any model is if there is no name.
    func isVersion(_ name: String?, _ model: ManagedObjectModel) -> Bool {
      guard let name else { return true }
      return models.contains { $0.version == name && $0.model.hashes == model.hashes }
    }
  }
}

/// A mapping model in a bundle.
private struct PlacedMapping {
  let file: MappingModelFile
  let versions: MappingFiles.Versions

  /// Returns whether it is for these versions: by their names if it has them, else by its entities.
  func leads(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) -> Bool {
    // try?: a model that is not sound is no version.
    guard let old = try? source.model(), let new = try? destination.model(),
      versions.isVersion(file.sourceVersion, old), versions.isVersion(file.destinationVersion, new)
    else { return false }
    // try?: a mapping model that does not fit the models is for others.
    return (try? file.mappingModel(forSourceModel: old, destinationModel: new)) != nil
  }
}

extension ManagedObjectModel {
  fileprivate var hashes: [String: Data] { entitiesByName.mapValues(\.versionHash) }
}

// MARK: KnownMappings

/// The mapping models that are found when a store is migrated as it is added: those in the main bundle, and those beside
/// the models that were read from files.
enum KnownMappings {
  /// Returns the mapping models between versions of a model.
  static func mappings(among models: [ManagedObjectModel]) -> [MappingModel] {
    // try?: a folder that cannot be read has no mapping models; a migration that lacks one says so.
    let files = (try? MappingModelFile.files(in: KnownModels.folders())) ?? []
    if files.isEmpty { return [] }
    let names = KnownModels.namedVersions()
    func isVersion(_ name: String?, _ model: ManagedObjectModel) -> Bool {
      guard let name else { return true }
      return names.contains { $0.version == name && $0.model.hashes == model.hashes }
    }
    return files.flatMap { file in
      models.flatMap { old in
        models.filter { $0 !== old && isVersion(file.sourceVersion, old) && isVersion(file.destinationVersion, $0) }
          // try?: a mapping model that does not fit the models is for others.
          .compactMap { try? file.mappingModel(forSourceModel: old, destinationModel: $0) }
      }
    }
  }
}
