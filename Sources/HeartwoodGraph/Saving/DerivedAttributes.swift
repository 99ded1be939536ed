import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The derived attributes of a model's entities, checked and ready to be computed.
struct DerivedAttributes: Sendable {
  /// How far a change may go from derived attribute to derived attribute.
  static var mostRounds: Int { 100 }

  /// A derived attribute of an entity.
  struct Attribute: Sendable {
    let ordinal: Int
    let type: AttributeType
    let plan: PlanExpression
    /// Whether the value depends on the time, and so is another with each save of the object.
    let isTimed: Bool
  }

  /// Those of each entity and its ancestors, by the ordinal of the entity.
  private var attributes: [Int: [Attribute]] = [:]
  /// What the objects of each entity that has some depend on, by the ordinal of the entity.
  private var dependencies: [(entityOrdinal: Int, of: FetchDependencies)] = []
  private let model: ManagedObjectModel

  /// - Throws: `FetchPredicateError` where an expression does not fit its entity.
  init(_ model: ManagedObjectModel) throws(FetchPredicateError) {
    self.model = model
    for entity in model.entities {
      let own = try Self.attributes(of: entity, model, now: Date())
      if own.isEmpty { continue }
      attributes[entity.ordinal] = own
      dependencies.append((entity.ordinal, FetchDependencies(nil, own.map(\.plan), of: entity, in: model)))
    }
  }

  /// The same with another time for `now()`. O(1) where no attribute depends on it.
  func at(_ now: Date) throws(FetchPredicateError) -> DerivedAttributes {
    var result = self
    for (ordinal, own) in attributes where own.contains(where: \.isTimed) {
      result.attributes[ordinal] = try Self.attributes(of: model.entities[ordinal], model, now: now)
    }
    return result
  }

  private static func attributes(
    of entity: EntityDescription,
    _ model: ManagedObjectModel,
    now: Date
  ) throws(FetchPredicateError) -> [Attribute] {
    var attributes: [Attribute] = []
    for (ordinal, property) in entity.properties.enumerated() {
      guard let attribute = property.attribute, !attribute.isTransient,
        let expression = attribute.derivationExpression
      else { continue }
      let plan = try PredicateCompiler.compile(expression, for: entity, in: model, now: now)
      let isTimed = expression.applies(.now)
      attributes.append(Attribute(ordinal: ordinal, type: attribute.type, plan: plan, isTimed: isTimed))
    }
    return attributes
  }
}

extension DerivedAttributes {
  func attributes(of entity: EntityDescription) -> [Attribute] { attributes[entity.ordinal] ?? [] }

  /// The ways from objects that have derived attributes to what these look at in objects of `entity`.
  func trails(to entity: EntityDescription) -> [FetchDependencies.Trail] {
    dependencies.flatMap { $0.of.trails(to: entity) }
  }

  /// Whether some may have other values once records of `entity` are written.
  func depend(on entity: EntityDescription) -> Bool { !attributes(of: entity).isEmpty || !trails(to: entity).isEmpty }

  /// Whether a record of `entity` has to be looked at whose properties with `ordinals` have been written.
  func isAffected(_ entity: EntityDescription, by ordinals: Set<Int>) -> Bool {
    let own = attributes(of: entity)
    if own.contains(where: { $0.isTimed || ordinals.contains($0.ordinal) }) { return true }
    return dependencies.contains { $0.entityOrdinal == entity.ordinal && !$0.of.ownOrdinals.isDisjoint(with: ordinals) }
  }

  /// The error of values that do not come to rest.
  static func neverSettles(_ entityName: String?, _ ids: [ManagedObjectID]) -> PersistenceError {
    PersistenceError(
      .saveNeverSettles,
      "Derived attributes were still changing after \(mostRounds) rounds. They depend on each other in a circle.",
      context: .init(entity: entityName, objectIDs: ids)
    )
  }
}

extension DerivedAttributes.Attribute {
  /// The value as the attribute keeps it, where it is another than `old`.
  func change(of old: PropertyValue, to value: PropertyValue) -> PropertyValue? {
    let new = value.fitted(to: type)
    return old == new || old.isNaN && new.isNaN ? nil : new
  }
}

extension PropertyValue {
  /// The value as a derived attribute of `type` keeps it: numbers without what the type has no room for; nothing where it does not fit.
  fileprivate func fitted(to type: AttributeType) -> PropertyValue {
    if fits(type) { return self }
    let value: PropertyValue =
      switch type {
      case .integer16, .integer32, .integer64: Computation.cast(self, to: .integer)
      case .double: Computation.cast(self, to: .double)
      case .float: Computation.cast(self, to: .float)
      case .decimal: Computation.cast(self, to: .decimal)
      case .string, .boolean, .date, .binary, .uuid, .uri, .transformable, .undefined: .null
      }
    return value.fits(type) ? value : .null
  }
}
