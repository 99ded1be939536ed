import HeartwoodGraph
import HeartwoodModel

/// Compares what the graph under test has in memory and in its file with the reference. Comparing fires no fault.
struct Comparison {
  let reference: ReferenceGraph
  let subject: GraphUnderTest

  /// What can be told of every context without reading an object.
  func compareContexts() throws {
    try require(
      try subject.lastTransactionNumber(),
      equals: reference.store.history?.lastNumber,
      "the number of the last transaction"
    )
    for (index, expected) in reference.contexts.enumerated() {
      let actual = subject.contexts[index]
      try require(keys(actual.insertedObjects), equals: expected.insertedKeys, "what context \(index) has inserted")
      try require(keys(actual.updatedObjects), equals: expected.updatedKeys, "what context \(index) has updated")
      try require(keys(actual.deletedObjects), equals: expected.deletedKeys, "what context \(index) has deleted")
      try require(actual.hasChanges, equals: expected.hasChanges, "hasChanges of context \(index)")
    }
  }

  private func keys(_ objects: [ManagedObject]) throws(Mismatch) -> Set<Key> {
    let keys = objects.compactMap { subject.key(of: $0.objectID) }
    guard keys.count == objects.count, Set(keys).count == keys.count else {
      throw Mismatch("a list of changed objects has one twice, or one that nobody has made")
    }
    return Set(keys)
  }

  /// Both ends of relationships agree in every context.
  func compareRelationships() throws {
    for (index, context) in subject.contexts.enumerated() {
      let disagreements = context.relationshipDisagreements
      try require(disagreements, equals: [], "the relationships of context \(index) whose ends disagree")
    }
  }

  /// Every object that a context has read.
  func compareObjects() throws {
    for index in reference.contexts.indices {
      for key in reference.contexts[index].objects.keys { try compareObject(key, index) }
    }
  }

  func compareObject(_ key: Key, _ context: Int) throws {
    guard let expected = reference.contexts[context].objects[key], !expected.isLost else { return }
    let name = "#\(key) in \(context)"
    guard let actual = subject.held[context][key] else { throw Mismatch("\(name) is not registered") }
    try require(actual.isFault, equals: false, "isFault of \(name)")
    try require(actual.isInserted, equals: expected.isInserted, "isInserted of \(name)")
    try require(actual.isUpdated, equals: expected.isUpdated, "isUpdated of \(name)")
    try require(actual.isDeleted, equals: expected.isDeleted, "isDeleted of \(name)")
    try require(actual.hasChanges, equals: expected.hasChanges, "hasChanges of \(name)")
    // What a deleted object's relationships lead to is left to the graph.
    if expected.isDeleted { return }
    try compareValues(actual, expected.values, name)
    let changes = try subject.shaped(actual.changedValues(), actual.entity)
    try require(
      expected.isInserted ? changes.filter { !$0.value.isEmpty } : changes,
      equals: expected.changedValues,
      "changedValues of \(name)"
    )
    let committed = try subject.shaped(actual.committedValues(), actual.entity)
    try require(committed, equals: expected.base?.values ?? [:], "committedValues of \(name)")
  }

  private func compareValues(_ object: ManagedObject, _ expected: [String: ReferenceValue], _ name: String) throws {
    for property in object.entity.properties {
      let actual = try subject.shaped(try object.propertyValue(forKey: property.name), property)
      try require(actual, equals: expected[property.name], "\(name).\(property.name)")
      if let attribute = property.attribute {
        let typed = TypedAccess(object: object, property: property).value
        try require(.attribute(typed), equals: actual, "\(name).\(attribute.name) by a typed key")
      }
    }
  }

  /// The records of the store's file, as another coordinator reads them.
  func compareFile() throws {
    guard let context = try subject.contextOnFile() else {
      return try require(reference.store.records.isEmpty, equals: true, "a store without a file")
    }
    var found: Set<Key> = []
    // A context does not hold what nobody does.
    var objects: [ManagedObject] = []
    for entity in reference.schema.model.entities where entity.superentity == nil {
      for object in try context.fetch(entityName: entity.name) {
        guard let key = subject.key(of: object.objectID), let record = reference.store.records[key] else {
          throw Mismatch("the file has a record \(object) that should not be there")
        }
        found.insert(key)
        objects.append(object)
        try compareValues(object, record.values, "#\(key) in the file")
      }
    }
    try require(found, equals: Set(reference.store.records.keys), "what the file has")
    let disagreements = withExtendedLifetime(objects) { context.relationshipDisagreements }
    try require(disagreements, equals: [], "the relationships of the file whose ends disagree")
  }
}
