import Heartwood
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension StoreConformance {
  /// Every value of every type that is declared comes back, or is refused as it was stated.
  var attributeCases: [ConformanceCase] {
    AttributeType.allCases.flatMap { type in
      [
        makeCase("keeps every \(type.rawValue) and nil", needs: .attributes(type)) { try $0.keepsValues(of: type) },
        makeCase("refuses every \(type.rawValue) that it cannot hold", needs: .attributes(type)) {
          try $0.refusesValues(of: type)
        },
      ]
    } + [makeCase("keeps records with attributes of all types") { try $0.keepsRecords() }]
  }

  private func keepsValues(of type: AttributeType) throws {
    let bench = try Workbench(self, model: try ModelMaker.model(attribute: type))
    let values = EdgeValues.values(of: type).filter { !refuses($0, type) }
    let open = try bench.open()
    let context = open.makeContext()
    let objects = try (values + [.null]).map { value in
      let object = try context.insert(entityName: ModelMaker.entity)
      try object.setPropertyValue(value, forKey: ModelMaker.value)
      return object
    }
    try context.save()
    let expected = zip(objects, values + [.null]).map { ($0.objectID.uriRepresentation(), $1) }
    let reopened = try bench.reopened(open)
    let other = reopened.makeContext()
    for (uri, value) in expected {
      let id = try unwrap(reopened.coordinator.managedObjectID(forURIRepresentation: uri), "an object of the id \(uri)")
      let found = try other.existingObject(with: id).propertyValue(forKey: ModelMaker.value)
      try expect("an attribute of type \(type.rawValue)", is: value, found: found)
    }
  }

  private func refusesValues(of type: AttributeType) throws {
    for value in EdgeValues.values(of: type) where refuses(value, type) {
      let bench = try Workbench(self, model: try ModelMaker.model(attribute: type))
      let open = try bench.open()
      _ = try open.makeContext().insertValue(.null)
      let before = try beforeRefusal(bench)
      let context = open.makeContext()
      try expectError(.valueUnsupported, when: "the value \(brief(value)) is saved") {
        try context.insertValue(value)
      }
      try expect(context.hasChanges, "expected the change that was refused to stay in the context")
      try expect(try beforeRefusal(bench) == before, "expected the file to stay as it was when a value is refused")
    }
  }

  /// All files and the bytes of the store's.
  private func beforeRefusal(_ bench: Workbench) throws -> [String] {
    guard capabilities.isPersistent else { return [] }
    return try bench.disk.fileNames() + [String(decoding: try bench.bytes(), as: UTF8.self)]
  }

  private func keepsRecords() throws {
    for seed in UInt64(1)...5 {
      let bench = try smallBench()
      let open = try bench.open()
      try open.insertRandom(50, seed: seed)
      try bench.expectReopensSame(open)
    }
  }
}

extension ManagedObjectContext {
  /// Saves a record with one value.
  fileprivate func insertValue(_ value: PropertyValue) throws {
    try insert(entityName: ModelMaker.entity).setPropertyValue(value, forKey: ModelMaker.value)
    try save()
  }
}
