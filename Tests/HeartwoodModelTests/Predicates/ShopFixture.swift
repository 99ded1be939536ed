import Testing

@testable import HeartwoodModel

/// Objects in a dictionary, as the plain evaluator can be asked for them.
struct ShopFixture: PredicateSource {
  let model: ManagedObjectModel
  let item: EntityDescription
  private let scopes: [ObjectIDScope]
  /// The values of each object by property name.
  private(set) var objects: [ManagedObjectID: [String: PropertyValue]] = [:]

  init() throws {
    model = try ManagedObjectModel(entities: [
      .entity(
        "Item",
        .attribute("name", .string, optional: true),
        .attribute("price", .double, optional: true),
        .attribute("count", .integer32, optional: true),
        .attribute("done", .boolean, optional: true),
        .attribute("due", .date, optional: true),
        .attribute("key", .uuid, optional: true),
        .attribute("cost", .decimal, optional: true),
        .attribute("cache", .string, optional: true, transient: true),
        .toOne("shop", "Shop", inverse: "items"),
        .toMany("parts", "Item", inverse: "whole"),
        .toOne("whole", "Item", inverse: "parts")
      ),
      .entity("Shop", .attribute("title", .string, optional: true), .toMany("items", "Item", inverse: "shop")),
    ])
    item = try #require(model.entity(named: "Item"))
    scopes = model.entities.map { ObjectIDScope(storeIdentifier: nil, entity: $0) }
  }

  @discardableResult
  mutating func add(_ number: Int64, _ values: [String: PropertyValue], shop: Bool = false) -> ManagedObjectID {
    let id = id(number, shop: shop)
    objects[id] = values
    return id
  }

  func id(_ number: Int64, shop: Bool = false) -> ManagedObjectID {
    ManagedObjectID(scope: scopes[shop ? 1 : 0], reference: .integer(number))
  }

  func value(_ ordinal: Int, of subject: ManagedObjectID) -> PropertyValue {
    let property = subject.entity.properties[ordinal]
    return objects[subject]?[property.name] ?? subject.entity.traits[ordinal].emptyValue
  }

  func objectID(of subject: ManagedObjectID) -> ManagedObjectID? { subject }

  func subject(_ id: ManagedObjectID) -> ManagedObjectID? { objects[id] == nil ? nil : id }
}

extension ShopFixture {
  func matches(_ format: String, _ id: ManagedObjectID, _ arguments: any FetchArgument...) throws -> Bool {
    let predicate = try FetchPredicate(format: format, arguments: arguments)
    return PredicateEvaluator(self).matches(try PredicateCompiler.compile(predicate, for: item, in: model), id)
  }

  func value(_ format: String, _ id: ManagedObjectID) throws -> EvaluatedValue {
    let plan = try PredicateCompiler.compile(try FetchExpression(format: format), for: item, in: model)
    return PredicateEvaluator(self).value(plan, id)
  }
}
