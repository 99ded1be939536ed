public import Foundation
import HeartwoodModel

/// How an element of an index finds values.
public enum NSFetchIndexElementType: UInt, Sendable {
  case binary = 0
  case rTree = 1
}

/// An index of an entity: the properties by whose values its objects should be found fast. Stores follow it as a hint.
open class NSFetchIndexDescription: NSObject, NSCopying {
  /// The name, unique in the entity.
  open var name: String { willSet { checkMutable() } }
  /// The indexed properties and expressions, the most significant first.
  open var elements: [NSFetchIndexElementDescription] {
    willSet { checkMutable() }
    didSet { own() }
  }
  /// The condition on the objects in the index; nil stands for all objects.
  open var partialIndexPredicate: NSPredicate? { willSet { checkMutable() } }
  /// The entity of the index.
  open internal(set) weak var entity: NSEntityDescription?

  /// Creates an index of an entity, which is set by its `indexes`.
  public init(name: String, elements: [NSFetchIndexElementDescription]?) {
    self.name = name
    self.elements = elements ?? []
    super.init()
    own()
  }

  private final func own() {
    for element in elements { element.indexDescription = self }
  }

  final func checkMutable() { entity?.checkMutable() }

  /// Returns a copy that belongs to no entity.
  open override func copy() -> Any { copy(with: nil) }

  /// Returns a copy that belongs to no entity.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSFetchIndexDescription(name: name, elements: elements.map { $0.copied() })
    copy.partialIndexPredicate = partialIndexPredicate
    return copy
  }
}

/// One indexed property or expression.
open class NSFetchIndexElementDescription: NSObject, NSCopying {
  /// The property: one of the entity's, or an ``NSExpressionDescription``.
  open private(set) var property: NSPropertyDescription?
  /// How the index finds values.
  open var collationType: NSFetchIndexElementType { willSet { indexDescription?.checkMutable() } }
  /// Whether the index is in ascending order.
  open var isAscending = true { willSet { indexDescription?.checkMutable() } }
  /// The index of the element.
  open internal(set) weak var indexDescription: NSFetchIndexDescription?

  /// Creates an element for a property, or for the expression of an ``NSExpressionDescription``.
  public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
    self.property = property
    self.collationType = collationType
  }

  /// The name of the property.
  open var propertyName: String? { property?.name }

  final func copied() -> NSFetchIndexElementDescription {
    let copy = NSFetchIndexElementDescription(
      property: property ?? NSPropertyDescription(),
      collationType: collationType
    )
    copy.isAscending = isAscending
    return copy
  }

  /// Returns a copy that belongs to no index.
  open override func copy() -> Any { copied() }

  /// Returns a copy that belongs to no index.
  open func copy(with zone: NSZone? = nil) -> Any { copied() }
}

// MARK: In Heartwood's form

extension NSFetchIndexDescription {
  final func description() throws -> FetchIndexDescription {
    FetchIndexDescription(
      name: name,
      elements: try elements.map { try $0.description() },
      partialIndexPredicate: try partialIndexPredicate.map { try PredicateTree.predicate($0) }
    )
  }

  /// Creates the index of a model. Its properties are found in `entity`.
  convenience init(_ index: FetchIndexDescription, of entity: NSEntityDescription) {
    self.init(name: index.name, elements: index.elements.map { NSFetchIndexElementDescription($0, of: entity) })
    partialIndexPredicate = index.partialIndexPredicate.map(FormatArguments.predicate(of:))
    self.entity = entity
  }
}

extension NSFetchIndexElementDescription {
  fileprivate final func description() throws -> FetchIndexElementDescription {
    let subject: FetchIndexElementDescription.Subject
    switch property {
    case let described as NSExpressionDescription: subject = .expression(try described.tree())
    default: subject = .property(propertyName ?? "")
    }
    return FetchIndexElementDescription(
      subject,
      collationType: collationType == .rTree ? .rTree : .binary,
      isAscending: isAscending
    )
  }

  fileprivate convenience init(_ element: FetchIndexElementDescription, of entity: NSEntityDescription) {
    let property: NSPropertyDescription
    switch element.subject {
    case .property(let name): property = entity.propertiesByName[name] ?? NSPropertyDescription(named: name)
    case .expression(let tree): property = NSExpressionDescription(tree)
    }
    self.init(property: property, collationType: element.collationType == .rTree ? .rTree : .binary)
    isAscending = element.isAscending
  }
}
