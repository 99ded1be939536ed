import Heartwood
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension StoreConformance {
  /// Values that must be unique are so on every store.
  var uniquenessCases: [ConformanceCase] {
    [makeCase("keeps values that must be unique apart") { try $0.keepsUniqueValuesApart() }]
  }

  private func keepsUniqueValuesApart() throws {
    for type in AttributeType.allCases where capabilities.attributeTypes.contains(type) {
      let values = Self.differingValues(of: type).filter { !refuses($0, type) }
      if values.count == 3 { try keepsApart(values, of: type) }
    }
  }

  private func keepsApart(_ values: [PropertyValue], of type: AttributeType) throws {
    let bench = try Workbench(self, model: try ModelMaker.model(uniqueAttribute: type))
    let open = try bench.open()
    // Those without a value do not collide.
    try open.insertUnique([.null, .null, values[0], values[1]])
    try expectError(.constraintConflict, when: "two records of one save have the same \(type)") {
      try open.insertUnique([values[2], values[2]])
    }
    let reopened = try bench.expectReopensSame(open)
    for value in values.prefix(2) {
      try expectError(.constraintConflict, when: "a record has the same \(type) as one that is there") {
        try reopened.insertUnique([values[2], value])
      }
    }
    try reopened.insertUnique([values[2]])
    let context = reopened.makeContext()
    let object = try context.fetch(entityName: ModelMaker.entity).first { object in
      try object.propertyValue(forKey: ModelMaker.value) == values[1]
    }
    try unwrap(object, "the record with the second \(type)").setPropertyValue(values[0], forKey: ModelMaker.value)
    try expectError(.constraintConflict, when: "a record is given the \(type) of another") { try context.save() }
    try expect("the records", is: 5, found: try bench.reopened(reopened).contents().count)
  }

  /// Three values of a type; none of those that have no three.
  private static func differingValues(of type: AttributeType) -> [PropertyValue] {
    switch type {
    case .string: ["", "a", "A"].map { .string($0) }
    case .integer16, .integer32, .integer64: [.integer(0), .integer(1), .integer(-1)]
    case .double: [.double(0), .double(0.5), .double(-1)]
    case .date: [0, 1, 86_400].map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .uuid: (0..<3).map { _ in .uuid(UUID()) }
    default: []
    }
  }
}

extension OpenStore {
  /// Saves records with these values.
  fileprivate func insertUnique(_ values: [PropertyValue]) throws {
    let context = makeContext()
    for value in values {
      try context.insert(entityName: ModelMaker.entity).setPropertyValue(value, forKey: ModelMaker.value)
    }
    try context.save()
  }
}
