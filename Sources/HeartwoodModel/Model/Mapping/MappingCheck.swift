/// Finds the predicates and expressions in a mapping of an entity that do not fit the models, so that no migration can
/// use them. They are found before a migration begins, even if there are no records for them.
struct MappingCheck {
  let mapping: EntityMapping
  let source: ManagedObjectModel
  let destination: ManagedObjectModel
  /// The destination entities of mappings, by the names of the mappings; nil for a mapping without one.
  let destinationNames: [String: String?]

  /// Returns one sentence for each fault, with the mapping, the property and the text.
  func faults() -> [String] {
    let old = mapping.sourceEntityName.flatMap(source.entity(named:))
    var faults: [String] = []
    if let predicate = mapping.sourcePredicate {
      if let problem = problem(of: predicate, old) {
        faults.append("\(mapping.name): the filter predicate \(predicate) cannot be used: \(problem)")
      }
    }
    for property in mapping.attributeMappings + mapping.relationshipMappings {
      guard let expression = property.valueExpression, let problem = problem(of: expression, property.name, old) else {
        continue
      }
      faults.append("\(mapping.name).\(property.name): the expression \(expression) cannot be used: \(problem)")
    }
    return faults
  }

  private func problem(of predicate: FetchPredicate, _ old: EntityDescription?) -> String? {
    guard let old else { return "the mapping takes no records" }
    do throws(FetchPredicateError) {
      _ = try PredicateCompiler.compile(predicate, for: old, in: source)
      return nil
    } catch {
      return "\(error)"
    }
  }

  private func problem(of expression: MappingExpression, _ property: String, _ old: EntityDescription?) -> String? {
    switch expression {
    case .constant(let value): return problem(of: value, property)
    case .variable(let name): return Self.variables.contains(name) ? nil : "there is no variable $\(name)"
    case .keyPath(let base, let path): return problem(of: base, property, old) ?? problem(ofPath: path, from: base, old)
    case .function(let target, let name, let arguments):
      return problem(ofFunction: name, of: target, arguments, property)
        ?? arguments.lazy.compactMap { argument in
          // Only the result must fit the property.
          if case .constant = argument { nil } else { self.problem(of: argument, property, old) }
        }.first
    case .computed(let expression): return problem(of: expression, old)
    }
  }

  private static let variables: Set<String> = [
    MappingExpression.Name.source, MappingExpression.Name.manager, MappingExpression.Name.entityPolicy,
    MappingExpression.Name.entityMapping,
  ]

  private func problem(of value: PropertyValue, _ property: String) -> String? {
    let new = mapping.destinationEntityName.flatMap(destination.entity(named:))
    guard let type = new?.property(named: property)?.attribute?.type, !value.isNull, value.migrated(to: type) == nil
    else {
      return nil
    }
    return "it is \(value.kindDescription), and the attribute is of the type \(type.rawValue)"
  }

  private func problem(of expression: FetchExpression, _ old: EntityDescription?) -> String? {
    guard let old else { return "the mapping takes no records" }
    do throws(FetchPredicateError) {
      _ = try PredicateCompiler.compile(expression.ofSource, for: old, in: source)
      return nil
    } catch {
      return "\(error)"
    }
  }
}

// MARK: Functions

extension MappingCheck {
  private func problem(
    ofFunction name: String,
    of target: MappingExpression,
    _ arguments: [MappingExpression],
    _ property: String
  ) -> String? {
    switch target {
    case .variable(MappingExpression.Name.entityPolicy):
      return mapping.entityMigrationPolicyClassName == nil ? "the mapping has no policy of its own" : nil
    case .variable(MappingExpression.Name.manager):
      guard let function = MappingExpression.ManagerFunction(rawValue: name), arguments.count == 2 else {
        return "$manager has no such function"
      }
      // A computed name is known only when the migration runs.
      guard case .constant(.string(let argument)) = arguments[0] else { return nil }
      return function == .destinationInstancesForEntityMapping ? problem(ofMapping: argument, property) : nil
    default: return "only $manager and $entityPolicy have functions"
    }
  }

  /// Returns why a relationship cannot have the records that a mapping makes.
  private func problem(ofMapping name: String, _ property: String) -> String? {
    guard let made = destinationNames[name] else { return "there is no entity mapping \(name)" }
    let new = mapping.destinationEntityName.flatMap(destination.entity(named:))
    guard let target = new?.property(named: property)?.relationship?.destinationEntityName,
      let allowed = destination.entity(named: target), let made = made.flatMap(destination.entity(named:))
    else { return nil }
    // A policy may make records of a subentity.
    guard !made.isKind(of: allowed), !allowed.isKind(of: made) else { return nil }
    return "the mapping \(name) makes records of \(made.name), and the relationship has those of \(target)"
  }
}

// MARK: Key paths

extension MappingCheck {
  private func problem(ofPath path: String, from base: MappingExpression, _ old: EntityDescription?) -> String? {
    guard case .variable(MappingExpression.Name.source) = base else { return nil }
    guard let old else { return "the mapping takes no records" }
    return problem(ofKeys: path.split(separator: ".").map(String.init)[...], from: old)
  }

  private func problem(ofKeys keys: ArraySlice<String>, from entity: EntityDescription) -> String? {
    guard let key = keys.first else { return nil }
    let rest = keys.dropFirst()
    if MappingExpression.unions.contains(key) { return problem(ofKeys: rest, from: entity) }
    if key == MappingExpression.count { return rest.isEmpty ? nil : "nothing may follow \(key)" }
    if key.hasPrefix("@") { return "the operator \(key) is not known" }
    // The destination of a relationship may be a record of a subentity, which has more properties.
    let entities = [entity] + entity.subentityOrdinals.map { source.entities[$0] }
    guard let property = entities.lazy.compactMap({ $0.property(named: key) }).first else {
      return "\(entity.name) has no property \(key)"
    }
    guard let name = property.relationship?.destinationEntityName, let target = source.entity(named: name) else {
      return rest.isEmpty ? nil : "\(entity.name).\(key) is not a relationship"
    }
    return problem(ofKeys: rest, from: target)
  }
}

extension MappingExpression {
  /// The key path operator that counts.
  package static let count = "@count"
  /// The key path operators that join collections.
  package static let unions: Set<String> = [
    "@unionOfObjects", "@unionOfArrays", "@unionOfSets", "@distinctUnionOfObjects", "@distinctUnionOfArrays",
    "@distinctUnionOfSets",
  ]

  /// Returns whether a key path of a mapping may have the operator. Others, such as `@sum`, can only be used in
  /// predicates.
  static func joinsOrCounts(_ key: String) -> Bool { key == count || unions.contains(key) }
}

extension FetchExpression {
  /// The expression of a mapping model as an expression over the source record, which is `$source` in it.
  package var ofSource: FetchExpression {
    replacing { part -> FetchExpression? in
      if case .variable(MappingExpression.Name.source) = part { .selfObject } else { nil }
    }
  }
}
