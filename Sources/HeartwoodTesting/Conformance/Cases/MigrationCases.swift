import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// A store comes to another version of its model, whatever happens on the way.
  var migrationCases: [ConformanceCase] {
    [
      makeCase("is migrated to another version of its model", needs: .file) { conformance in
        try ConformanceDisk.each { try conformance.migrates(on: $0) }
      },
      makeCase("survives the end of the process at each step of a migration", needs: .file) {
        try $0.survivesCrashesOfMigration()
      },
    ]
  }

  /// A store of an older version of a model, and what it is to become.
  private struct OldStore {
    /// The attribute that the new version has and the old has not.
    static let added = "addedByTheNewVersion"

    let bench: Workbench
    /// The same place, with the new version.
    let renewed: Workbench
    let contents: StoreContents

    init(_ conformance: StoreConformance, on disk: ConformanceDisk) throws {
      let model = try ModelMaker(conformance.capabilities).richest()
      bench = Workbench(conformance, model: model, disk: disk)
      renewed = Workbench(conformance, model: try Self.newVersion(of: model, conformance), disk: disk)
      let open = try bench.open()
      try open.insertRandom(12, seed: 1)
      var generator = SeededGenerator(seed: 2)
      try open.linkRandomly(&generator)
      contents = try open.contents()
    }

    /// The model with an attribute more in each entity that inherits from none.
    private static func newVersion(
      of model: ManagedObjectModel,
      _ conformance: StoreConformance
    ) throws -> ManagedObjectModel {
      let type = try unwrap(
        AttributeType.allCases.first(where: conformance.capabilities.attributeTypes.contains),
        "a type of attributes"
      )
      return try ManagedObjectModel(
        entities: model.entities.map { entity in
          var definition = entity.definition
          if definition.superentityName == nil { definition.properties.append(.attribute(added, type, optional: true)) }
          return definition
        }
      )
    }

    /// The migration that the store needs, seen through `fileSystem`; nil where the store can be opened as it is, because it tells
    /// of no model.
    func migration(_ fileSystem: (any FileSystem)? = nil) throws -> StoreMigration? {
      let bench = fileSystem.map(renewed.seen) ?? renewed
      var options = bench.options
      options[.olderModels] = [self.bench.model]
      return try bench.makeCoordinator().migration(
        ofStoreAt: try unwrap(bench.url(), "a file"),
        type: bench.conformance.type,
        options: options
      )
    }

    /// Fails unless the store has the old records in the new version.
    func expectMigrated(_ when: String) throws {
      let found = try renewed.open().contents()
      try expect("the identifier \(when)", is: contents.metadata.identifier, found: found.metadata.identifier)
      for entity in contents.entities where !entity.isAbstract {
        let other = try unwrap(found.model.entity(named: entity.name), "the entity \(entity.name)")
        let (old, new) = (Array(contents.nodes(of: entity)), Array(found.nodes(of: other)))
        try expect("the number of records of \(entity.name) \(when)", is: old.count, found: new.count)
        for (old, new) in zip(old, new) { try expectSame(old, new, when) }
      }
    }

    private func expectSame(_ old: AtomicStoreCacheNode, _ new: AtomicStoreCacheNode, _ when: String) throws {
      try expect("the reference of a record \(when)", is: old.reference, found: new.reference)
      try expect("the new attribute \(when)", is: PropertyValue.null, found: new[Self.added])
      for property in old.entity.properties {
        let values = [old, new].map { node -> [String] in
          let value = node[property.name]
          guard property.relationship != nil else { return ["\(value)"] }
          let names = value.objectIDs.map { "\($0.entity.name) \($0.reference)" }
          return property.relationship?.isOrdered == true ? names : names.sorted()
        }
        try expect("\(old.entity.name).\(property.name) \(when)", is: values[0], found: values[1])
      }
    }

    /// Whether the store is of the new version; fails where it is neither whole.
    func isMigrated(_ when: String) throws -> Bool {
      if try migration() == nil {
        try expectMigrated(when)
        return true
      }
      let found = try bench.open().contents()
      try expect(ContentsComparison.firstDifference(contents, found) == nil, "expected the old content \(when)")
      return false
    }
  }

  private func migrates(on disk: ConformanceDisk) throws {
    let old = try OldStore(self, on: disk)
    guard let migration = try old.migration() else { return try old.expectMigrated("opened with the new version") }
    let before = try old.bench.bytes()
    let plan = try migration.dryRun()
    try expect(try old.bench.bytes() == before, "expected a dry run to change nothing")
    let report = try migration.run()
    try expect("the report of a migration", is: plan, found: report)
    try expect("the number of records", is: old.contents.count, found: report.destinationCount)
    try old.expectMigrated("after a migration")
    try expect(try old.migration() == nil, "expected a store that has been migrated to need no migration")
  }

  private func survivesCrashesOfMigration() throws {
    for step in 1...Self.mostSteps {
      let old = try OldStore(self, on: .memory())
      let faults = FaultInjectingFileSystem(wrapping: old.bench.disk.fileSystem)
      guard let migration = try old.migration(faults) else {
        return try old.expectMigrated("opened with the new version")
      }
      faults.crash(atOperation: faults.operations.count + step)
      let hasMigrated = (try? migration.run()) != nil
      let isOver = !faults.hasCrashed
      let when = "when the process ends at step \(step) of a migration"
      faults.restart()
      let isMigrated = try old.isMigrated(when)
      try expect(isMigrated || !hasMigrated, "expected the new content where the migration succeeded \(when)")
      if !isMigrated { try old.migration()?.run() }
      try expect("the files \(when)", is: [old.bench.fileName()], found: try old.bench.disk.fileNames())
      if isOver { return try expect(hasMigrated, "expected a migration to succeed when nothing happens") }
    }
    throw ConformanceFailure("expected a migration to take fewer than \(Self.mostSteps) steps")
  }
}
