/// What gives the value of a property of a new record: an expression over the record that it is made of, `$source`, the manager of the
/// migration, `$manager`, and the policy of the entity, `$entityPolicy`.
///
/// Its text is what Xcode's editor of mapping models shows: `$source.name`, `$source.price * 100`,
/// `FUNCTION($entityPolicy, "fullName:", $source)`.
public indirect enum MappingExpression: Sendable, Hashable {
  /// A value that is always the same.
  case constant(PropertyValue)
  /// What the migration knows by a name: `$source`, `$manager`, `$entityPolicy`, `$entityMapping`.
  case variable(String)
  /// What a key path leads to from an object, or from each of several.
  case keyPath(of: MappingExpression, String)
  /// What an object answers to a message: of `$manager`, those that Xcode writes; of `$entityPolicy`, those that the policy knows.
  case function(on: MappingExpression, name: String, [MappingExpression])
  /// What is computed as predicates compute it, with `$source` as a variable.
  case computed(FetchExpression)
}

extension MappingExpression {
  /// The names of what a migration knows.
  public enum Name {
    /// The record that a new one is made of.
    public static let source = "source"
    /// The manager of the migration.
    public static let manager = "manager"
    /// The policy of the entity.
    public static let entityPolicy = "entityPolicy"
    /// The mapping of the entity.
    public static let entityMapping = "entityMapping"
  }

  /// What answers to these messages are, of the manager of a migration.
  public enum ManagerFunction: String, Sendable, Hashable, CaseIterable {
    /// The new records that a mapping of entities has made of some source records.
    case destinationInstancesForEntityMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    /// The new records that were made of those that a relationship of the source record leads to.
    case destinationInstancesForSourceRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
  }

  /// The value of a property of the source record, or what a key path leads to from there: `$source.name`.
  public static func source(_ keyPath: String) -> MappingExpression {
    .keyPath(of: .variable(Name.source), keyPath)
  }

  /// The new records that a mapping of entities has made of those that a key path leads to from the source record.
  public static func destinationInstances(
    forEntityMappingNamed name: String,
    sourceInstances keyPath: String
  ) -> MappingExpression {
    destinationInstances(forEntityMappingNamed: name, of: .source(keyPath))
  }

  /// The new records that a mapping of entities has made of some source records: of the source record itself, if `sources` is `$source`.
  package static func destinationInstances(
    forEntityMappingNamed name: String,
    of sources: MappingExpression
  ) -> MappingExpression {
    .function(
      on: .variable(Name.manager),
      name: ManagerFunction.destinationInstancesForEntityMapping.rawValue,
      [.constant(.string(name)), sources]
    )
  }

  /// The new records that were made, by whatever mapping, of those that a relationship of the source record leads to.
  public static func destinationInstances(forSourceRelationshipNamed name: String) -> MappingExpression {
    destinationInstances(forSourceRelationshipAt: name)
  }

  /// The new records that were made, by whatever mapping, of those that a key path leads to, whose last relationship gives the name.
  package static func destinationInstances(forSourceRelationshipAt keyPath: String) -> MappingExpression {
    let name = keyPath.split(separator: ".").last.map(String.init) ?? keyPath
    return .function(
      on: .variable(Name.manager),
      name: ManagerFunction.destinationInstancesForSourceRelationship.rawValue,
      [.constant(.string(name)), .source(keyPath)]
    )
  }
}

extension MappingExpression: CustomStringConvertible {
  /// The expression as Xcode shows it; it reads back by ``init(format:)``.
  public var description: String {
    switch self {
    case .constant(let value): "\(FetchExpression.constant(value))"
    case .variable(let name): "$\(name)"
    case .keyPath(let base, let keyPath): "\(base).\(keyPath)"
    case .function(let target, let name, let arguments):
      "FUNCTION(" + (["\(target)", "\"\(name)\""] + arguments.map { "\($0)" }).joined(separator: ", ") + ")"
    case .computed(let expression): "\(expression)"
    }
  }
}
