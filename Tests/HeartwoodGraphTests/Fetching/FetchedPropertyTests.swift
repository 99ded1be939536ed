import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import Testing

/// Fetch requests and fetched properties that a model holds.
@Suite struct FetchedPropertyTests {
  private func context() throws -> ManagedObjectContext {
    func template(_ name: String, _ format: String, limit: Int = 0) throws -> FetchRequestTemplate {
      FetchRequestTemplate(
        name: name,
        entityName: "Item",
        predicate: try FetchPredicate(format: format),
        fetchLimit: limit
      )
    }
    var item = EntityDefinition.entity(
      "Item",
      .attribute("name", .string, optional: true),
      .attribute("price", .integer32, optional: true),
      .toOne("whole", "Item", inverse: "parts"),
      .toMany("parts", "Item", inverse: "whole")
    )
    item.fetchedProperties = [
      FetchedPropertyDescription(
        name: "namesakes",
        fetchRequest: try template("f", "name ==[c] $FETCH_SOURCE.name AND SELF != $FETCH_SOURCE")
      ),
      FetchedPropertyDescription(
        name: "siblings",
        fetchRequest: try template("f", "SELF IN $FETCH_SOURCE.whole.parts AND SELF != $FETCH_SOURCE")
      ),
      FetchedPropertyDescription(
        name: "cheap",
        fetchRequest: try template("f", "name == $FETCHED_PROPERTY.userInfo.name AND price < $FETCH_SOURCE.price + 1"),
        userInfo: ["name": "a"]
      ),
    ]
    let model = try ManagedObjectModel(
      entities: [item],
      fetchRequestTemplates: [
        try template("Between", "price BETWEEN {$LOW, $HIGH}", limit: 2), try template("All", "price > 0"),
      ]
    )
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return ManagedObjectContext(coordinator)
  }

  private func item(_ context: ManagedObjectContext, _ name: String, _ price: Int64) throws -> ManagedObject {
    let item = try context.insert(entityName: "Item")
    try item.setPropertyValue(.string(name), forKey: "name")
    try item.setPropertyValue(.integer(price), forKey: "price")
    return item
  }

  @Test func templatesTakeValues() throws {
    let context = try context()
    for price in 1...5 { _ = try item(context, "i", Int64(price)) }
    try context.save()
    let request = try context.fetchRequest(fromTemplate: "Between", substituting: ["LOW": 2, "HIGH": 4])
    #expect(request.fetchLimit == 2)
    #expect(try context.fetch(request).count == 2)
    #expect(try context.count(for: context.fetchRequest(fromTemplate: "All")) == 5)
    // A variable without a value is told of when it is fetched.
    let unbound = try context.fetchRequest(fromTemplate: "Between", substituting: ["LOW": 2])
    let error = try #require(throws: FetchPredicateError.self) { try context.fetch(unbound) }
    #expect(error.kind == .unboundVariable)
    let missing = persistenceError { _ = try context.fetchRequest(fromTemplate: "Betwen") }
    #expect(missing?.code == .propertyUnknown && missing?.message.contains("Between") == true)
  }

  @Test func fetchedPropertiesSeeTheirSource() throws {
    let context = try context()
    let (a, other, small) = (try item(context, "A", 3), try item(context, "a", 3), try item(context, "a", 1))
    let whole = try item(context, "whole", 9)
    for part in [other, small] { try part.setPropertyValue(.toOne(whole.objectID), forKey: "whole") }
    try context.save()
    #expect(try Set(a.fetchedValue(forKey: "namesakes")) == [other, small])
    #expect(try other.fetchedValue(forKey: "siblings") == [small])
    #expect(try a.fetchedValue(forKey: "siblings").isEmpty)
    #expect(try Set(a.fetchedValue(forKey: "cheap")) == [other, small])
    // Values that have not been saved count.
    try a.setPropertyValue(.integer(2), forKey: "price")
    #expect(try a.fetchedValue(forKey: "cheap") == [small])
    try a.setPropertyValue(.string("whole"), forKey: "name")
    #expect(try a.fetchedValue(forKey: "namesakes") == [whole])
    let new = try item(context, "WHOLE", 1)
    #expect(try Set(new.fetchedValue(forKey: "namesakes")) == [a, whole])
    #expect(
      persistenceError { let _: [ManagedObject] = try a.fetchedValue(forKey: "nothing") }?.code == .propertyUnknown
    )
  }
}
