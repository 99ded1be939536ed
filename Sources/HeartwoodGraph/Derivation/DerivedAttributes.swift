import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The derived attributes of a model's entities, checked and ready to be computed.
struct DerivedAttributes {
  /// A derived attribute of an entity.
  struct Attribute {
    let ordinal: Int
    let type: AttributeType
    let plan: PlanExpression
    /// Whether the value depends on the time, and so is another with each save of the object.
    let isTimed: Bool
  }

  /// Those of each entity and its ancestors, by the ordinal of the entity.
  private let attributes: [Int: [Attribute]]
  /// What the objects of each entity that declares some depend on.
  private let dependencies: [FetchDependencies]

  /// Nil where the model has none.
  ///
  /// - Throws: `FetchPredicateError` where an expression does not fit its entity.
  init?(_ model: ManagedObjectModel, now: Date) throws {
    var attributes: [Int: [Attribute]] = [:]
    var dependencies: [FetchDependencies] = []
    for entity in model.entities {
      let own = try entity.properties.enumerated().compactMap { ordinal, property in
        try Self.attribute(property, ordinal, entity, model, now)
      }
      if own.isEmpty { continue }
      attributes[entity.ordinal] = own
      dependencies.append(FetchDependencies(nil, own.map(\.plan), of: entity, in: model))
    }
    if attributes.isEmpty { return nil }
    self.attributes = attributes
    self.dependencies = dependencies
  }

  private static func attribute(
    _ property: PropertyDescription,
    _ ordinal: Int,
    _ entity: EntityDescription,
    _ model: ManagedObjectModel,
    _ now: Date
  ) throws(FetchPredicateError) -> Attribute? {
    guard let attribute = property.attribute, !attribute.isTransient, let expression = attribute.derivationExpression
    else { return nil }
    let plan = try PredicateCompiler.compile(expression, for: entity, in: model, now: now)
    return Attribute(ordinal: ordinal, type: attribute.type, plan: plan, isTimed: expression.applies(.now))
  }
}

extension DerivedAttributes {
  func attributes(of entity: EntityDescription) -> [Attribute] { attributes[entity.ordinal] ?? [] }

  /// The saved and new objects whose derived values depend on `object`, which has changed.
  ///
  /// Over a relationship without an inverse they are not found.
  func dependents(of object: ManagedObject, in context: ManagedObjectContext) -> [ManagedObject] {
    dependencies.flatMap { dependencies in
      dependencies.trails(to: object)
        .filter { !object.isUpdated || object.hasChanges(at: $0.ordinals) }
        .flatMap { dependencies.origins(of: object, $0, in: context) ?? [] }
    }
  }
}

extension PropertyValue {
  /// The value as a derived attribute of `type` keeps it: numbers without what the type has no room for; nothing where it does not fit.
  func fitted(to type: AttributeType) -> PropertyValue {
    if fits(type) { return self }
    let value: PropertyValue =
      switch type {
      case .integer16, .integer32, .integer64: Computation.cast(self, to: .integer)
      case .double: Computation.cast(self, to: .double)
      case .float: Computation.cast(self, to: .float)
      case .decimal: Computation.cast(self, to: .decimal)
      case .string, .boolean, .date, .binary, .uuid, .uri, .transformable: .null
      }
    return value.fits(type) ? value : .null
  }
}
