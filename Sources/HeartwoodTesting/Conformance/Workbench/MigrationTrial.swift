import Heartwood
import HeartwoodStore

/// A store with an old version of a model, and the new version to migrate to.
///
/// The expected contents follow from the two models: a property has the values of the property with its renaming
/// identifier or its name, converted to its type, and a new property has its default value.
struct MigrationTrial {
  /// The workbench that opens stores with the old version.
  let old: Workbench
  /// The workbench that opens the same stores with the new version.
  let new: Workbench
  /// The contents of the store before the migration.
  let contents: StoreContents

  /// Creates a store of the old version.
  ///
  /// - Parameter fill: saves the records.
  init(
    _ conformance: StoreConformance,
    from oldModel: ManagedObjectModel,
    to newModel: ManagedObjectModel,
    on disk: ConformanceDisk,
    fill: (OpenStore) throws -> Void
  ) throws {
    old = try Workbench(conformance, model: oldModel, disk: disk)
    new = try Workbench(conformance, model: newModel, disk: disk)
    let open = try old.open()
    try fill(open)
    contents = try open.contents()
    open.coordinator.close()
  }

  private init(_ trial: MigrationTrial, on disk: ConformanceDisk) throws {
    old = try Workbench(trial.old.conformance, model: trial.old.model, disk: disk)
    new = try Workbench(trial.new.conformance, model: trial.new.model, disk: disk)
    contents = trial.contents
  }

  /// Returns the same trial with the copied files on `disk`.
  func copied(to disk: ConformanceDisk) throws -> MigrationTrial { try MigrationTrial(self, on: disk) }

  /// Returns the migration that the store needs; nil if it needs none.
  ///
  /// - Parameters:
  ///   - fileSystem: the file system through which it accesses the disk; nil for that of the workbench.
  ///   - conformance: the description of the stores that it opens; nil for the tested one.
  func migration(
    through fileSystem: (any FileSystem)? = nil,
    as conformance: StoreConformance? = nil
  ) throws -> StoreMigration? {
    let bench = try new.seen(through: fileSystem ?? new.fileSystem).with(conformance ?? new.conformance)
    var options = bench.options
    options[.olderModels] = [old.model]
    // The versions differ in their entities and properties on purpose.
    options[.allowsMigrationLoss] = true
    return try bench.makeCoordinator().migration(
      ofStoreAt: try unwrap(bench.url(), "a file"),
      type: bench.conformance.type,
      options: options
    )
  }
}

// MARK: What is there

extension MigrationTrial {
  /// Returns whether the store has been migrated completely. Fails if it is neither migrated nor unchanged.
  func isMigrated(_ when: String) throws -> Bool {
    if try migration() == nil {
      try expectMigrated(when)
      return true
    }
    try expectUnchanged(when)
    return false
  }

  /// Fails unless the store is unchanged.
  func expectUnchanged(_ when: String) throws {
    let open = try old.open()
    try expectSame(try open.contents(), as: contents, "the old store \(when)")
    open.coordinator.close()
  }

  /// Fails unless the store has the records in the new version.
  func expectMigrated(_ when: String) throws {
    let open = try new.open()
    let found = try open.contents()
    try expect("the identifier \(when)", is: contents.metadata.identifier, found: found.metadata.identifier)
    for entity in found.entities where !entity.isAbstract {
      let source = contents.entities.first { $0.name == entity.renamingIdentifier ?? entity.name }
      let nodes = source.map { Array(contents.nodes(of: $0)) } ?? []
      let others = Array(found.nodes(of: entity))
      try expect("the number of records of \(entity.name) \(when)", is: nodes.count, found: others.count)
      let byReference = Dictionary(others.map { ($0.reference, $0) }) { first, _ in first }
      for node in nodes {
        let other = try unwrap(byReference[node.reference], "the record \(node.reference) of \(entity.name) \(when)")
        try expectMigrated(node, as: other, when)
      }
    }
    open.coordinator.close()
  }

  private func expectMigrated(_ node: AtomicStoreCacheNode, as other: AtomicStoreCacheNode, _ when: String) throws {
    for property in other.entity.properties {
      let source = node.entity.property(named: property.renamingIdentifier ?? property.name)
      let what = "\(other.entity.name).\(property.name) \(when)"
      if let attribute = property.attribute {
        let value = source.map { node[$0.name].migrated(to: attribute.type) } ?? attribute.defaultValue
        try expect(what, is: try unwrap(value, "a form of the old value of \(what)"), found: other[property.name])
      } else {
        let isOrdered = [source, property].allSatisfy { $0?.relationship?.isOrdered ?? false }
        let names = [source.map { node[$0.name] } ?? .null, other[property.name]].map { value in
          let names = value.objectIDs.map { "\($0.reference)" }
          return isOrdered ? names : names.sorted()
        }
        try expect(what, is: names[0], found: names[1])
      }
    }
  }
}
