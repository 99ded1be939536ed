import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// A store is migrated to another version of its model with an inferred mapping, also if the migration is
  /// interrupted.
  var migrationCases: [ConformanceCase] {
    [
      makeCase("is migrated where properties come, go and are renamed", needs: .place, .modelVersion) { conformance in
        try conformance.withEachDisk { try conformance.migrates(try conformance.renamingTrial(on: $0)) }
      },
      makeCase("is migrated where attributes change their types", needs: .place, .modelVersion) {
        try $0.migrates(try $0.convertingTrial(on: try $0.makeDisk()))
      },
      makeCase("is migrated where relationships change", needs: .place, .modelVersion, .relationships) {
        try $0.migrates(try $0.relinkingTrial(on: try $0.makeDisk()))
      },
      makeCase("stays as it is where a migration is refused", needs: .place, .modelVersion) { conformance in
        try conformance.withEachDisk { try conformance.staysWhereRefused($0) }
      },
      makeCase("survives the end of the process at each step of a migration", needs: .file, .modelVersion) {
        try $0.reachesFilesItself ? $0.survivesEndsOfMigration() : $0.survivesCrashesOfMigration()
      },
    ]
  }

  private func migrates(_ trial: MigrationTrial) throws {
    let migration = try unwrap(try trial.migration(), "a migration for a store of an older version")
    let plan = try migration.dryRun()
    try trial.expectUnchanged("after a dry run")
    let report = try unwrap(try trial.migration(), "a migration after a dry run").run()
    try expect("the report of a migration", is: plan, found: report)
    try trial.expectMigrated("after a migration")
    try expect(try trial.migration() == nil, "expected a store that has been migrated to need no migration")
    try trial.new.expectFiles("after a migration")
    try trial.new.open().insertRandom(1, seed: 3)
    try expect(
      "the records after another save",
      is: trial.contents.count + 1,
      found: try trial.new.open().contents().count
    )
  }

  // MARK: What changes

  private var attributeTypes: [AttributeType] { AttributeType.allCases.filter(capabilities.attributeTypes.contains) }

  /// The entity and an attribute are renamed, an attribute is removed, and others are added, with and without a default
  /// value.
  func renamingTrial(on disk: ConformanceDisk) throws -> MigrationTrial {
    let models = ModelMaker(capabilities)
    let oldModel = try models.smallest()
    var properties = oldModel.entities.flatMap(\.properties)
    if properties.count > 1 { properties.removeLast() }
    let type = try unwrap(attributeTypes.first, "a type of attributes")
    properties[0] = .attribute("renamed", type, optional: true, renamedFrom: properties[0].name)
    properties.append(.attribute("added", type, optional: true))
    if let value = defaultValue(of: type) { properties.append(.attribute("filled", type, default: value)) }
    let entity = EntityDefinition(name: "Renamed", properties: properties, renamingIdentifier: ModelMaker.entity)
    return try MigrationTrial(self, from: oldModel, to: try ManagedObjectModel(entities: [entity]), on: disk) {
      try $0.insertRandom(20, seed: 1)
    }
  }

  /// Returns a value that the store can hold.
  private func defaultValue(of type: AttributeType) -> PropertyValue? {
    var generator = SeededGenerator(seed: 9)
    let values = (0..<100).lazy.map { _ in PropertyValue.random(of: type, using: &generator) }
    return values.first { !refuses($0, type) && NearDates.contain($0) }
  }

  /// The types to which attributes of each type change, if the store supports both.
  private static let widerTypes: [AttributeType: AttributeType] = [
    .integer16: .integer32, .integer32: .integer64, .integer64: .string, .boolean: .integer16, .float: .double,
    .uuid: .string,
    .uri: .string, .binary: .transformable,
  ]

  private func convertingTrial(on disk: ConformanceDisk) throws -> MigrationTrial {
    let oldModel = try ModelMaker(capabilities).smallest()
    let properties = oldModel.entities.flatMap(\.properties).map { property -> PropertyDescription in
      guard case .attribute(var attribute) = property, let wider = Self.widerTypes[attribute.type],
        capabilities.attributeTypes.contains(wider)
      else { return property }
      attribute.type = wider
      return .attribute(attribute)
    }
    let newModel = try ManagedObjectModel(
      entities: [EntityDefinition(name: ModelMaker.entity, properties: properties, versionHashModifier: "converted")]
    )
    return try MigrationTrial(self, from: oldModel, to: newModel, on: disk) { open in
      var open = open
      open.refuses = { value, type in
        let wider = Self.widerTypes[type] ?? type
        return self.refuses(value, type) || value.migrated(to: wider).map { self.refuses($0, wider) } ?? true
      }
      try open.insertRandom(40, seed: 1)
    }
  }

  /// Relationships become ordered or unordered, become to-many, are renamed, added and removed.
  private func relinkingTrial(on disk: ConformanceDisk) throws -> MigrationTrial {
    let oldModel = try ModelMaker(capabilities).leadingToItself()
    let entity = ModelMaker.entity
    let attributes = oldModel.entities.flatMap(\.properties).filter { $0.attribute != nil }
    let links: [PropertyDescription] = [
      .toOne("parent", entity, inverse: "children"),
      .toMany("children", entity, inverse: "parent", ordered: true),
      .toMany("steps", entity, inverse: "partOf"),
      .toMany("partOf", entity, inverse: "steps", renamedFrom: "stepOf"),
      .toMany("leader", entity, inverse: "follower"),
      .toOne("follower", entity, inverse: "leader"),
      .toMany("friends", entity, inverse: "friends"),
    ]
    let newModel = try ManagedObjectModel(entities: [EntityDefinition(name: entity, properties: attributes + links)])
    return try MigrationTrial(self, from: oldModel, to: newModel, on: disk) { open in
      try open.insertRandom(20, seed: 1)
      var generator = SeededGenerator(seed: 2)
      for _ in 0..<4 { try open.linkRandomly(&generator) }
    }
  }

  // MARK: Refusals

  private func staysWhereRefused(_ disk: ConformanceDisk) throws {
    let type = try unwrap(attributeTypes.first, "a type of attributes")
    let value = try unwrap(defaultValue(of: type), "a value of type \(type.rawValue)")
    let oldModel = try ModelMaker.model(attribute: type)
    let unique = EntityDefinition(
      name: ModelMaker.entity,
      properties: oldModel.entities.flatMap(\.properties),
      uniquenessConstraints: [[ModelMaker.value]],
      versionHashModifier: "unique"
    )
    let newModel = try ManagedObjectModel(entities: [unique])
    let trial = try MigrationTrial(self, from: oldModel, to: newModel, on: disk) { open in
      let context = open.makeContext()
      for _ in 0..<3 {
        try context.insert(entityName: ModelMaker.entity).setPropertyValue(value, forKey: ModelMaker.value)
      }
      try context.save()
    }
    let migration = try unwrap(try trial.migration(), "a migration for a store of an older version")
    try expectError(.migrationFailed, when: "records have the same values that are to be unique") {
      try migration.run()
    }
    try trial.expectUnchanged("after a migration that was refused")
    try trial.old.expectFiles("after a migration that was refused")
  }

  // MARK: Interruptions

  private func survivesCrashesOfMigration() throws {
    for step in 1...Self.mostSteps {
      let trial = try renamingTrial(on: .memory())
      let faults = FaultInjectingFileSystem(wrapping: trial.old.disk.fileSystem)
      let migration = try unwrap(try trial.migration(through: faults), "a migration for a store of an older version")
      let number = faults.operations.count + step
      faults.crash(atOperation: number)
      let hasSucceeded = (try? migration.run()) != nil
      let isOver = !faults.hasCrashed
      let when = "when the process ends at step \(step) of a migration (\(faults.operation(number)))"
      faults.restart()
      try expectOldOrNew(trial, hasSucceeded: hasSucceeded, isOver: isOver, when)
      try trial.new.expectFiles("after a migration \(when)")
      if isOver { return try expect(step > 1, "expected a migration to do something with files") }
    }
    throw ConformanceFailure("expected a migration to take fewer than \(Self.mostSteps) steps")
  }

  /// Copies the files at each step in which the migration changes the new store, as they would be on the disk if the
  /// process ended there.
  private func survivesEndsOfMigration() throws {
    for step in 1...Self.mostSteps {
      let (trial, copy) = (try renamingTrial(on: try makeFolder()), try makeFolder())
      let disk = trial.old.disk
      let interruption = StoreInterruption { try disk.copyFiles(to: copy) }
      let interrupted = try interrupted(by: interruption)
      let migration = try unwrap(try trial.migration(as: interrupted), "a migration for a store of an older version")
      interruption.observe(at: interruption.step + step)
      let last = interruption.step + step
      try migration.run()
      let isOver = interruption.step < last
      if isOver { try disk.copyFiles(to: copy) }
      let place = "step \(step) of a migration (\(interruption.observed))"
      let when = isOver ? "afterwards" : "when the process ends at \(place)"
      try expectOldOrNew(try trial.copied(to: copy), hasSucceeded: isOver, isOver: isOver, when)
      if isOver { return try expect(step > 1, "expected a migration to take steps") }
    }
    throw ConformanceFailure("expected a migration to take fewer than \(Self.mostSteps) steps")
  }

  private func expectOldOrNew(
    _ trial: MigrationTrial,
    hasSucceeded: Bool,
    isOver: Bool,
    _ when: String
  ) throws {
    try expect(hasSucceeded || !isOver, "expected a migration to succeed when nothing happens, found that it fails")
    let isMigrated = try trial.isMigrated(when)
    try expect(isMigrated || !hasSucceeded, "expected the new content where the migration succeeded \(when)")
    if !isMigrated {
      try unwrap(try trial.migration(), "a migration \(when)").run()
      try trial.expectMigrated("after another migration \(when)")
    }
  }
}
