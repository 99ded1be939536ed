public import Heartwood
import HeartwoodFoundation
import HeartwoodStore

/// A requirement of a behaviour which a store may declare to lack.
public enum ConformanceRequirement: Sendable, Hashable {
  /// The store has a place, so that it outlives the process.
  case place
  /// The store is a file.
  case file
  /// The store supports attributes of a type.
  case attributes(AttributeType)
  /// The store supports attributes of a type whose values have an order.
  case orderedAttributes
  /// The store supports a kind of reference for its records.
  case references(StoreCapabilities.ReferenceKind)
  /// The store supports relationships between records.
  case relationships
  /// The store supports a number of entities, not counting abstract ones.
  case entities(Int)
  /// The store keeps the application's own metadata.
  case userMetadata
  /// The file holds its model.
  case embeddedModel
  /// The file holds the version of its model.
  case modelVersion
  /// The store keeps a history of its saves.
  case history
}

extension ConformanceRequirement {
  /// Returns whether the store has declared that it meets the requirement.
  func isMet(by conformance: StoreConformance) -> Bool {
    let capabilities = conformance.capabilities
    return switch self {
    case .place: capabilities.supports(.persistence)
    case .file: conformance.isFile
    case .attributes(let type): capabilities.attributeTypes.contains(type)
    case .orderedAttributes: !capabilities.attributeTypes.isDisjoint(with: PlainOrder.orderedTypes)
    case .references(let kind): capabilities.referenceKinds.contains(kind)
    case .relationships: capabilities.supports(.relationships)
    case .entities(let count): count <= capabilities.maximumEntityCount ?? .max
    case .userMetadata: capabilities.supports(.userMetadata)
    case .embeddedModel: capabilities.supports(.embeddedModel)
    case .modelVersion: conformance.tellsModelVersion
    case .history: capabilities.supports(.history)
    }
  }
}

extension ConformanceRequirement: CustomStringConvertible {
  /// The requirement, in words.
  public var description: String {
    switch self {
    case .place: "a place"
    case .file: "a file"
    case .attributes(let type): "attributes of type \(type.rawValue)"
    case .orderedAttributes: "attributes whose values have an order"
    case .references(let kind): "references of kind \(kind.rawValue)"
    case .relationships: "relationships"
    case .entities(let count): "\(count) entities"
    case .userMetadata: "metadata of the user"
    case .embeddedModel: "the model in the file"
    case .modelVersion: "the version of the model in the file"
    case .history: "a history"
    }
  }
}

// MARK: Refusal

extension ConformanceRequirement {
  /// Fails unless the store refuses what it has declared to lack, before it writes anything.
  func expectRefusal(by conformance: StoreConformance) throws {
    let models = ModelMaker(conformance.capabilities)
    switch self {
    case .place, .file: try expectFileRefusal(by: conformance)
    case .attributes(let type):
      let error = try expectModelRefusal(try ModelMaker.model(attribute: type), by: conformance)
      try expect("the property that the error names", is: ModelMaker.value, found: error.context.property)
    case .orderedAttributes:
      for type in PlainOrder.orderedTypes { try Self.attributes(type).expectRefusal(by: conformance) }
    case .relationships: _ = try expectModelRefusal(try models.withForbiddenRelationship(), by: conformance)
    case .entities(let count): _ = try expectModelRefusal(try models.withEntities(count), by: conformance)
    case .references(let kind): try expectReferenceRefusal(kind, by: conformance)
    case .userMetadata: try expectUserMetadataRefusal(by: conformance)
    case .embeddedModel: try expectNoModel(of: conformance)
    case .modelVersion: try expectNoModelVersion(of: conformance)
    case .history: try expectHistoryRefusal(by: conformance)
    }
  }

  private func expectFileRefusal(by conformance: StoreConformance) throws {
    let bench = try Workbench(conformance, model: try ModelMaker(conformance.capabilities).smallest())
    let url = URL(filePath: bench.disk.path("store"))
    try expectError(.capabilityMissing, when: "a store without files is opened at one") {
      try bench.makeCoordinator().addPersistentStore(type: conformance.type, at: url, options: bench.options)
    }
    try expect("the files", is: [], found: bench.disk.fileNames())
  }

  private func expectModelRefusal(
    _ model: ManagedObjectModel,
    by conformance: StoreConformance
  ) throws -> PersistenceError {
    let bench = try Workbench(conformance, model: model)
    let error = try expectError(.capabilityMissing, when: "a store is opened that needs \(self)") {
      _ = try bench.open()
    }
    try expect("the files", is: [], found: bench.disk.fileNames())
    try expect("the store type that the error names", is: conformance.type, found: error.context.storeType)
    return error
  }

  private func expectReferenceRefusal(
    _ kind: StoreCapabilities.ReferenceKind,
    by conformance: StoreConformance
  ) throws {
    let bench = try Workbench(conformance, model: try ModelMaker(conformance.capabilities).smallest())
    let source = try bench.openInMemory()
    try source.insert([ReferenceNames.samples(of: kind)[0]], seed: 1)
    if conformance.reachesFilesItself {
      // Records that are converted to such a store get references of a kind that it supports.
      let expected = try source.contents()
      let found = try bench.reopened(try bench.convert(source)).contents()
      return try conformance.expectConverted(found, as: expected, "a store whose records had \(self)")
    }
    try expectError(.capabilityMissing, when: "records with \(self) are converted to it") {
      try bench.convert(source)
    }
    try expect("the files", is: [], found: bench.disk.fileNames())
  }

  private func expectUserMetadataRefusal(by conformance: StoreConformance) throws {
    let bench = try Workbench(conformance, model: try ModelMaker(conformance.capabilities).smallest())
    let open = try bench.open()
    try expectError(.capabilityMissing, when: "the user's metadata is set") {
      try open.store.setUserInfo(["key": "value"])
    }
    try expect("the user's metadata", is: [:], found: open.store.metadata.userInfo)
    guard conformance.capabilities.supports(.persistence) else { return }
    try open.insertRandom(3, seed: 1)
    let before = try bench.bytes()
    var metadata = open.store.metadata
    metadata.userInfo = ["key": "value"]
    try expectError(.capabilityMissing, when: "the user's metadata is set without opening the store") {
      try bench.makeCoordinator().setMetadata(
        metadata,
        type: conformance.type,
        at: try unwrap(bench.url(), "a place"),
        options: bench.options
      )
    }
    try expect(try bench.bytes() == before, "expected the file to stay as it was, found other bytes")
  }

  private func expectHistoryRefusal(by conformance: StoreConformance) throws {
    let bench = try Workbench(conformance, model: try ModelMaker(conformance.capabilities).smallest())
    let error = try expectError(.capabilityMissing, when: "a store is opened that is to keep its history") {
      _ = try bench.open(tracksHistory: true)
    }
    try expect("the files", is: [], found: bench.disk.fileNames())
    try expect("the store type that the error names", is: conformance.type, found: error.context.storeType)
    let open = try bench.open()
    try expectError(.capabilityMissing, when: "its history is asked for") {
      _ = try open.coordinator.execute(.fetchHistory(after: nil))
    }
    try expect("the token of a store without a history", is: nil, found: try open.token())
  }

  private func expectNoModelVersion(of conformance: StoreConformance) throws {
    let bench = try Workbench(conformance, model: try ModelMaker(conformance.capabilities).smallest())
    try bench.open().insertRandom(3, seed: 1)
    let metadata = try conformance.metadata(bench)
    try expect(
      metadata.modelVersionHashes.isEmpty,
      "expected no version of the model in the file, as stated; found that of \(metadata.modelVersionHashes.keys.sorted())"
    )
  }

  private func expectNoModel(of conformance: StoreConformance) throws {
    guard conformance.capabilities.supports(.persistence) else {
      return try ConformanceRequirement.place.expectRefusal(by: conformance)
    }
    let bench = try Workbench(conformance, model: try ModelMaker(conformance.capabilities).smallest())
    try bench.open().insertRandom(3, seed: 1)
    let model = try conformance.keptModel(bench)
    try expect(model == nil, "expected no model in the file, as declared; found one")
  }
}
