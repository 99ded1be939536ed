public import Foundation
import HeartwoodModel
import HeartwoodModelFiles
import Synchronization

/// The entities of an application's objects. A model can be changed until a coordinator uses it.
open class NSManagedObjectModel: NSObject {
  private var allEntities: [NSEntityDescription] = []
  private var namesByConfiguration: [String: [String]] = [:]
  private var templates: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]
  /// The model as stores use it, once a coordinator has asked for it.
  private(set) final var resolved: ManagedObjectModel?
  /// The file or folder that the model was read from.
  final var url: URL?

  /// Identifiers of the version, which stores keep but do not compare.
  open var versionIdentifiers: Set<AnyHashable> = []

  /// Creates a model without entities.
  public override init() {}

  /// Reads a model: a `momd`, a `mom`, or Xcode's own `xcdatamodeld` or `xcdatamodel`. It returns nil if there is none
  /// at `url` or it cannot be read.
  public convenience init?(contentsOf url: URL) {
    // try?: Core Data gives nil here.
    guard let model = try? ManagedObjectModel(contentsOf: url) else { return nil }
    self.init(model)
    self.url = url
    KnownModels.note(url)
  }

  /// Creates a model of the entities of several, which must be different ones; nil if they do not fit together.
  public convenience init?(byMerging models: [NSManagedObjectModel]?) {
    // try?: Core Data gives nil here.
    guard let models, let merged = try? ManagedObjectModel(merging: models.map({ try $0.model() })) else { return nil }
    self.init(merged)
    url = models.count == 1 ? models.first?.url : nil
  }

  convenience init(_ model: ManagedObjectModel) {
    self.init()
    allEntities = ModelTree.entities(of: model)
    for entity in allEntities { entity.model = self }
    namesByConfiguration = model.configurations
    versionIdentifiers = Set(model.versionIdentifiers)
    for template in model.fetchRequestTemplates { templates[template.name] = NSFetchRequest(template) }
  }

  /// Creates a model that shows one of stores. Its objects are all of the class NSManagedObject.
  convenience init(showing model: ManagedObjectModel) {
    self.init(model)
    for (entity, description) in zip(model.entities, allEntities) {
      description.objectClass = NSManagedObject.self
      description.resolved = entity
    }
    resolved = model
  }

  private func checkMutable() {
    ProgrammerError.check(
      resolved == nil,
      "The model is used by a coordinator and cannot be changed any more. Change a copy."
    )
  }

  /// Returns whether the other model has equal entities and configurations.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSManagedObjectModel else { return false }
    if self === other { return true }
    // try?: a model that is not sound equals itself alone.
    guard let own = try? model(), let others = try? other.model() else { return false }
    return own.entitiesByName.mapValues(\.definition) == others.entitiesByName.mapValues(\.definition)
      && own.configurations == others.configurations
  }

  /// A number that equal models share.
  open override var hash: Int { allEntities.reduce(0) { $0 ^ ($1.name?.hashValue ?? 0) } }

  /// Returns a copy that can be changed. The model must be sound.
  open override func copy() -> Any {
    do {
      let copy = NSManagedObjectModel(try model())
      copy.url = url
      return copy
    } catch {
      ProgrammerError.stop("The model cannot be copied: \(error)")
    }
  }

  // MARK: Entities

  /// The entities. Setting them takes those of another model away from it.
  open var entities: [NSEntityDescription] {
    get { allEntities }
    set {
      checkMutable()
      allEntities = newValue
      for entity in allEntities { entity.model = self }
    }
  }

  /// The entities by name.
  open var entitiesByName: [String: NSEntityDescription] {
    Dictionary(allEntities.compactMap { entity in entity.name.map { ($0, entity) } }) { _, last in last }
  }

  /// The names of the configurations.
  open var configurations: [String] { namesByConfiguration.keys.sorted() }

  /// Returns the entities of a configuration; nil stands for all. It returns nil if there is no such configuration.
  open func entities(forConfigurationName name: String?) -> [NSEntityDescription]? {
    guard let name, name != "PF_DEFAULT_CONFIGURATION_NAME" else { return allEntities }
    return namesByConfiguration[name].map { names in allEntities.filter { names.contains($0.name ?? "") } }
  }

  /// Makes a configuration of some of the entities.
  open func setEntities(_ entities: [NSEntityDescription], forConfigurationName name: String) {
    checkMutable()
    namesByConfiguration[name] = entities.compactMap(\.name)
  }

  // MARK: Fetch request templates

  /// The requests that the model keeps, by name.
  open var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] { templates }

  /// Returns the request that the model keeps under a name.
  open func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? { templates[name] }

  /// Keeps a request under a name; nil removes the one that is there.
  open func setFetchRequestTemplate(
    _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?,
    forName name: String
  ) {
    checkMutable()
    templates[name] = fetchRequestTemplate
  }

  /// Returns a copy of a request that the model keeps, with values in place of its variables (`$name`).
  open func fetchRequestFromTemplate(
    withName name: String,
    substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<any NSFetchRequestResult>? {
    guard let request = templates[name]?.copy() as? NSFetchRequest<any NSFetchRequestResult> else { return nil }
    request.predicate = request.predicate?.withSubstitutionVariables(variables)
    return request
  }

  // MARK: Versions

  /// The version hashes of the entities by name; empty as long as the model is not sound.
  open var entityVersionHashesByName: [String: Data] {
    // try?: a model that is not sound has no hashes yet.
    guard let model = try? model() else { return [:] }
    return model.entitiesByName.mapValues(\.versionHash)
  }

  /// A text that identifies the version: models with equal version hashes share it. It is empty as long as the model is
  /// not sound.
  open var versionChecksum: String {
    // try?: a model that is not sound has no version yet.
    (try? model())?.versionChecksum ?? ""
  }

  /// Returns the checksums of the versions of a model, by their names.
  open class func checksumsForVersionedModel(at modelURL: URL) throws -> [String: String] {
    do {
      let models = try DataModelFile.models(at: modelURL)
      let checksums = models.map { (name: $0.version, checksum: $0.model.versionChecksum) }
      return Dictionary(checksums.map { ($0.name, $0.checksum) }) { first, _ in first }
    } catch {
      throw CocoaError.make(.coreData, "\(error)", error)
    }
  }

  /// Returns whether a store with this metadata can be opened with the model as it is, without a migration.
  open func isConfiguration(
    withName configuration: String?,
    compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    guard let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data],
      let entities = entities(forConfigurationName: configuration)
    else { return false }
    let hashes = entityVersionHashesByName
    let names = entities.compactMap(\.name)
    return Set(names) == Set(stored.keys) && names.allSatisfy { hashes[$0] == stored[$0] }
  }
}

// MARK: For stores

extension NSManagedObjectModel {
  /// Returns the model in the form that stores use.
  final func model() throws -> ManagedObjectModel {
    if let resolved { return resolved }
    return try ManagedObjectModel(
      entities: ModelTree.definitions(of: allEntities),
      configurations: namesByConfiguration,
      versionIdentifiers: versionIdentifiers.compactMap { $0 as? String }.sorted(),
      fetchRequestTemplates: templates.sorted { $0.key < $1.key }.map { try $1.template(named: $0) }
    )
  }

  /// Returns the model in the form that stores use, and makes the descriptions unchangeable.
  final func freeze() throws -> ManagedObjectModel {
    if let resolved { return resolved }
    let model = try model()
    for entity in allEntities {
      entity.objectClass = ManagedObjectClasses.objectClass(
        named: entity.managedObjectClassName,
        ofEntity: entity.name ?? ""
      )
      // A name such as `.Person` stands for the class of the module that the model is compiled with.
      if entity.managedObjectClassName?.hasPrefix(".") == true, entity.objectClass != NSManagedObject.self {
        entity.managedObjectClassName = NSStringFromClass(entity.objectClass)
      }
      entity.resolved = model.entity(named: entity.name ?? "")
    }
    resolved = model
    KnownModels.note(self)
    return model
  }

  /// Returns the description of an entity of the model that stores use.
  final func description(of entity: EntityDescription) -> NSEntityDescription {
    // The entities are in the same order.
    allEntities[entity.ordinal]
  }
}

// MARK: Bundles

extension NSManagedObjectModel {
  /// Merges all models in the resources of `bundles`; nil stands for the main bundle. It returns nil if there is none.
  public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
    let models = ModelFiles.urls(in: bundles ?? [.main]).compactMap(NSManagedObjectModel.init(contentsOf:))
    return models.isEmpty ? nil : models.count == 1 ? models[0] : NSManagedObjectModel(byMerging: models)
  }

  /// Returns the version of a model in `bundles` with which a store of this metadata was written; nil if there is none.
  public class func mergedModel(
    from bundles: [Bundle]?,
    forStoreMetadata metadata: [String: Any]
  ) -> NSManagedObjectModel? {
    // try?: a model that cannot be read is none of those that are looked for.
    let versions = ModelFiles.urls(in: bundles ?? [.main]).flatMap { (try? ModelFiles.versions(at: $0)) ?? [] }
    return versions.lazy.map { NSManagedObjectModel($0) }
      .first { $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) }
  }
}

extension Bundle {
  /// Returns the bundle of an identifier, which the command heartwood-coredata writes for `Bundle(identifier:)`. If no
  /// bundle has the identifier, the resources of the package target are returned whose name is its last part:
  /// `Shop` for `com.example.Shop`.
  public static func found(identifier: String) -> Bundle? {
    Bundle(identifier: identifier)
      ?? identifier.split(separator: ".").last.flatMap { ModelFiles.resources(ofTarget: String($0)) }
  }

  /// Returns the resources of a type. Foundation's function of this name returns them as `NSURL` on this system.
  @_disfavoredOverload
  public func urls(forResourcesWithExtension ext: String?, subdirectory subpath: String?) -> [URL]? {
    let urls: [NSURL]? = urls(forResourcesWithExtension: ext, subdirectory: subpath)
    return urls?.map { $0 as URL }
  }
}

// MARK: ModelFiles

/// The files of models.
enum ModelFiles {
  private static let folders: Set<String> = ["momd", "xcdatamodeld"]

  /// Returns the models in the resources of bundles; if there are none, those in the resources of package targets
  /// beside them. Of a compiled model and its source, the compiled one is returned.
  static func urls(in bundles: [Bundle]) -> [URL] {
    let found = models(in: bundles)
    return found.isEmpty ? models(in: bundles.flatMap(resources)) : found
  }

  /// Returns the resources of the package target called `name`, beside the program.
  static func resources(ofTarget name: String) -> Bundle? {
    resources(of: .main).first {
      $0.bundleURL.deletingPathExtension().lastPathComponent.split(separator: "_").last.map(String.init) == name
    }
  }

  private static func models(in bundles: [Bundle]) -> [URL] {
    var found: [String: URL] = [:]
    for type in ["xcdatamodel", "xcdatamodeld", "mom", "momd"] {
      for bundle in bundles {
        for url in bundle.urls(forResourcesWithExtension: type, subdirectory: nil) ?? [] {
          let url = url as URL
          found[url.deletingPathExtension().path] = url
        }
      }
    }
    return found.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Returns the bundles that the Swift package manager makes of the resources of targets, which lie beside or in the
  /// bundle of the program.
  private static func resources(of bundle: Bundle) -> [Bundle] {
    let folders = Set(
      [bundle.bundleURL, bundle.resourceURL, bundle.executableURL?.deletingLastPathComponent()].compactMap(\.self)
    )
    return folders.sorted { $0.path < $1.path }.flatMap { folder in
      // try?: a folder that cannot be read has no resources.
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      return names.sorted().filter { $0.hasSuffix(".resources") }
        .compactMap { Bundle(url: folder.appendingPathComponent($0)) }
    }
  }

  /// Returns all versions of the model at `url`.
  static func versions(at url: URL) throws -> [ManagedObjectModel] {
    guard folders.contains(url.pathExtension) else { return [try ManagedObjectModel(contentsOf: url)] }
    return try DataModelFile.models(at: url).map(\.model)
  }
}

// MARK: KnownModels

/// The models that the process has used. The entities of classes, and the models of older stores that are migrated, are
/// looked up here.
enum KnownModels {
  private struct Reference: Sendable {
    weak let model: NSManagedObjectModel?
  }

  private static let urls = Mutex<[URL]>([])
  private static let models = Mutex<[Reference]>([])

  static func note(_ url: URL) {
    urls.withLock { if !$0.contains(url) { $0.append(url) } }
  }

  static func note(_ model: NSManagedObjectModel) {
    models.withLock { models in
      models.removeAll { $0.model == nil }
      models.append(Reference(model: model))
    }
  }

  /// The models of coordinators, the newest first.
  static var used: [NSManagedObjectModel] { models.withLock { $0.compactMap(\.model).reversed() } }

  /// All versions of the models that were read from files, and of those in the main bundle, as far as they can be read
  /// now.
  static func versions() -> [ManagedObjectModel] {
    let files = urls.withLock { $0 }
    let others = ModelFiles.urls(in: [.main]).filter { !files.contains($0) }
    // try?: no migration begins with a model that cannot be read, and one that lacks its first model says so.
    return (files + others).flatMap { (try? ModelFiles.versions(at: $0)) ?? [] }
  }

  /// All versions of these models by their names.
  static func namedVersions() -> [(version: String, model: ManagedObjectModel)] {
    let files = urls.withLock { $0 }
    let others = ModelFiles.urls(in: [.main]).filter { !files.contains($0) }
    // try?: as above.
    return (files + others).flatMap { (try? DataModelFile.models(at: $0)) ?? [] }
  }

  /// The folders of these models, and the models themselves if they are folders.
  static func folders() -> [URL] {
    let files = urls.withLock { $0 }
    let main = [Bundle.main.resourceURL].compactMap { $0 }
    var seen: Set<String> = []
    return (main + files + files.map { $0.deletingLastPathComponent() }).filter { seen.insert($0.path).inserted }
  }
}

// `@unchecked Sendable`: a model is made by one thread, and cannot be changed any more once a coordinator, which other
// threads see, has it.
extension NSManagedObjectModel: @unchecked Sendable {}
