import Heartwood
import HeartwoodStore

/// A store of an old version of a model, and the new version that it is to come to.
///
/// What the new one has to keep is told from the two models: a property has the values of the one that it is called like, or after its renaming
/// identifier, in its own type; one that is new has its default value.
struct MigrationTrial {
  /// Where stores are opened with the old version.
  let old: Workbench
  /// The same place, where they are opened with the new one.
  let new: Workbench
  /// What the store has kept before.
  let contents: StoreContents

  /// Makes a store of the old version.
  ///
  /// - Parameter fill: gives it its records.
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

  /// The same, with a copy of the files.
  func copied(to disk: ConformanceDisk) throws -> MigrationTrial { try MigrationTrial(self, on: disk) }

  /// The migration that the store needs; nil where it needs none.
  ///
  /// - Parameters:
  ///   - fileSystem: what it sees of the disk; nil means all of it.
  ///   - conformance: how it opens stores; nil means as usual.
  func migration(
    through fileSystem: (any FileSystem)? = nil,
    as conformance: StoreConformance? = nil
  ) throws -> StoreMigration? {
    let bench = try new.seen(through: fileSystem ?? new.fileSystem).with(conformance ?? new.conformance)
    var options = bench.options
    options[.olderModels] = [old.model]
    // The versions differ in what they have, on purpose.
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
  /// Whether the store is of the new version, with all that it has to keep; fails where it is neither that nor what it was.
  func isMigrated(_ when: String) throws -> Bool {
    if try migration() == nil {
      try expectMigrated(when)
      return true
    }
    try expectUnchanged(when)
    return false
  }

  /// Fails unless the store is what it was.
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
