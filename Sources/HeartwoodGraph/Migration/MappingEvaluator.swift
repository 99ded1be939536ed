import HeartwoodModel
import HeartwoodStore

/// Evaluates the expressions of a mapping model.
struct MappingEvaluator {
  let manager: MigrationManager
  let policy: EntityMigrationPolicy
  let mapping: EntityMapping
  let source: ManagedObject?

  func value(_ expression: MappingExpression) throws -> MappingValue {
    switch expression {
    case .constant(let value): return .scalar(value)
    case .variable(let name): return try variable(name)
    case .keyPath(let base, let path):
      return try follow(path.split(separator: ".").map(String.init)[...], try value(base))
    case .function(let target, let name, let arguments):
      return try call(name, on: try value(target), try arguments.map(value))
    case .computed(let expression): return try computed(expression)
    }
  }

  private func variable(_ name: String) throws -> MappingValue {
    switch name {
    case MappingExpression.Name.source: return source.map(MappingValue.object) ?? .scalar(.null)
    case MappingExpression.Name.manager: return .manager
    case MappingExpression.Name.entityPolicy: return .policy
    case MappingExpression.Name.entityMapping: return .mapping
    default: throw unusable("uses the unknown variable $\(name)")
    }
  }

  func unusable(_ problem: String) -> PersistenceError {
    PersistenceError(
      .mappingModelUnusable,
      "A value expression of the mapping \(mapping.name) \(problem).",
      context: .init(entity: mapping.destinationEntityName)
    )
  }
}

// MARK: Functions

extension MappingEvaluator {
  private func call(_ name: String, on target: MappingValue, _ arguments: [MappingValue]) throws -> MappingValue {
    switch target {
    case .manager: return try callManager(name, arguments)
    case .policy:
      let result = try policy.value(ofFunction: name, arguments: arguments.map(\.swiftValue), manager: manager)
      if let value = MappingValue(result) { return value }
      throw unusable("calls the function \(name) of its policy, whose result is not a value that an object can have")
    default: throw unusable("calls a function of something other than $manager and $entityPolicy")
    }
  }

  private func callManager(_ name: String, _ arguments: [MappingValue]) throws -> MappingValue {
    guard let function = MappingExpression.ManagerFunction(rawValue: name), arguments.count == 2,
      case .scalar(.string(let argument)) = arguments[0], let sources = arguments[1].objects
    else {
      throw unusable("calls the function \(name) of $manager, which does not have it or takes other arguments")
    }
    switch function {
    case .destinationInstancesForEntityMapping:
      return .several(
        manager.destinationInstances(forEntityMappingName: argument, sourceInstances: sources).map(MappingValue.object)
      )
    case .destinationInstancesForSourceRelationship:
      return .several(manager.destinationInstances(forSourceInstances: sources).map(MappingValue.object))
    }
  }
}

// MARK: Key paths

extension MappingEvaluator {
  private func follow(_ keys: ArraySlice<String>, _ value: MappingValue) throws -> MappingValue {
    guard let key = keys.first else { return value }
    let rest = keys.dropFirst()
    if key == MappingExpression.count, rest.isEmpty { return .scalar(.integer(Int64(value.elements.count))) }
    if MappingExpression.unions.contains(key) {
      return try union(try value.elements.flatMap { try follow(rest, $0).elements }, key)
    }
    guard !key.hasPrefix("@") else {
      throw unusable("has a key path with the operator \(key), which cannot be used here")
    }
    switch value {
    case .object(let object): return try follow(rest, try self.value(key, of: object))
    case .scalar(let value) where value.isNull: return .scalar(.null)
    case .several(let values): return .several(try values.flatMap { try follow(keys, $0).elements })
    default: throw unusable("looks for \(key) in something that is not an object")
    }
  }

  private func value(_ key: String, of object: ManagedObject) throws -> MappingValue {
    let value = try object.propertyValue(forKey: key)
    switch value {
    case .toOne(let id): return try present(id) ?? .scalar(.null)
    case .toMany(let ids): return .several(try ids.compactMap { try present($0) })
    default: return .scalar(value)
    }
  }

  /// Returns the destination of a relationship; nil if there is no such record: a store may have dangling references if
  /// a delete rule does nothing.
  private func present(_ id: ManagedObjectID) throws(PersistenceError) -> MappingValue? {
    try manager.sourceContext.find(id).map(MappingValue.object)
  }

  private func union(_ values: [MappingValue], _ key: String) throws -> MappingValue {
    guard key.hasPrefix("@distinct") || key.hasSuffix("Sets") else { return .several(values) }
    var objects: Set<ManagedObject> = []
    var scalars: Set<PropertyValue> = []
    return .several(
      values.filter { value in
        switch value {
        case .object(let object): objects.insert(object).inserted
        case .scalar(let scalar): scalars.insert(scalar).inserted
        default: true
        }
      }
    )
  }
}

// MARK: Expressions of predicates

extension MappingEvaluator {
  private func computed(_ expression: FetchExpression) throws -> MappingValue {
    guard let source else { throw unusable("computes a value of a source record, but there is none") }
    let plan = try PredicateCompiler.compile(expression.ofSource, for: source.entity, in: manager.sourceModel)
    let evaluator = PredicateEvaluator(ContextSource(context: manager.sourceContext))
    return try mappingValue(evaluator.value(plan, source)) ?? .scalar(.null)
  }

  private func mappingValue(_ value: EvaluatedValue) throws -> MappingValue? {
    switch value {
    case .one(.toOne(let id)): try present(id)
    case .one(let value): .scalar(value)
    case .many(let values): .several(try values.compactMap(mappingValue))
    }
  }
}

// MARK: MappingValue

/// The value of an expression of a mapping model.
enum MappingValue {
  case scalar(PropertyValue)
  case object(ManagedObject)
  case several([MappingValue])
  case manager
  case policy
  case mapping

  /// The value of an attribute; nil if it is of another kind.
  var propertyValue: PropertyValue? {
    switch self {
    case .scalar(let value): value
    case .object, .several, .manager, .policy, .mapping: nil
    }
  }

  /// The objects, none for `nil`; nil if it contains other values.
  var objects: [ManagedObject]? {
    switch self {
    case .scalar(let value): return value.isNull ? [] : nil
    case .object(let object): return [object]
    case .several(let values):
      let objects = values.compactMap(\.objects)
      return objects.count == values.count ? objects.flatMap(\.self) : nil
    case .manager, .policy, .mapping: return nil
    }
  }

  /// The elements of a collection; `nil` has none, and a single value is the only element.
  var elements: [MappingValue] {
    switch self {
    case .several(let values): values
    case .scalar(let value) where value.isNull: []
    default: [self]
    }
  }

  /// The value in the form in which a policy gets it.
  var swiftValue: Any? {
    switch self {
    case .scalar(let value): value.swiftValue
    case .object(let object): object
    case .several(let values): objects ?? values.map(\.swiftValue)
    case .manager, .policy, .mapping: nil
    }
  }

  /// Creates a value from the result of a policy; nil if it is no value that an object can have.
  init?(_ value: Any?) {
    switch value {
    case nil: self = .scalar(.null)
    case let value as PropertyValue: self = .scalar(value)
    case let value as any AttributeValue: self = .scalar(value.propertyValue)
    case let object as ManagedObject: self = .object(object)
    case let objects as [ManagedObject]: self = .several(objects.map(MappingValue.object))
    case let objects as Set<ManagedObject>: self = .several(objects.map(MappingValue.object))
    default: return nil
    }
  }
}
