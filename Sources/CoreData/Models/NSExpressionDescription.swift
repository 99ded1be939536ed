import Foundation
import HeartwoodModel

/// A column of a fetch of dictionaries, whose values are computed, or an expression in an index.
///
///     let total = NSExpressionDescription()
///     total.name = "total"
///     total.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "price")])
///     total.expressionResultType = .doubleAttributeType
///     request.propertiesToFetch = [total]
open class NSExpressionDescription: NSPropertyDescription {
  /// The expression for the values.
  open var expression: NSExpression?
  /// The type of the values. They are what the expression gives, converted to this type if they are numbers.
  open var expressionResultType = NSAttributeType.undefinedAttributeType
  /// The type of the values in the form of newer SDKs.
  open var resultType: NSAttributeDescription.AttributeType {
    get { NSAttributeDescription.AttributeType(rawValue: expressionResultType.rawValue) }
    set { expressionResultType = NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType }
  }

  final func tree() throws -> FetchExpression {
    if let expression { return try expression.content.tree() }
    throw CocoaError.make(.persistentStoreOperation, "The expression description \(name) has no expression.")
  }

  convenience init(_ tree: FetchExpression) {
    self.init()
    name = tree.description
    expression = FormatArguments.expression(of: tree)
  }

  override class func makeEmpty() -> NSPropertyDescription { NSExpressionDescription() }

  override func copyValues(to copy: NSPropertyDescription) {
    super.copyValues(to: copy)
    guard let copy = copy as? NSExpressionDescription else { return }
    copy.expression = expression
    copy.expressionResultType = expressionResultType
  }
}

// MARK: NSDerivedAttributeDescription

/// An attribute whose value a save computes from others: `items.@count`, `title`, `canonical:(title)`.
open class NSDerivedAttributeDescription: NSAttributeDescription {
  /// The expression for the value.
  open var derivationExpression: NSExpression? { willSet { checkMutable() } }

  override class func makeEmpty() -> NSPropertyDescription { NSDerivedAttributeDescription() }

  override func copyValues(to copy: NSPropertyDescription) {
    super.copyValues(to: copy)
    (copy as? NSDerivedAttributeDescription)?.derivationExpression = derivationExpression
  }
}

// MARK: NSFetchedPropertyDescription

/// A property whose objects come from a fetch and are not kept.
///
/// In the predicate of its request, `$FETCH_SOURCE` is the object that has the property.
open class NSFetchedPropertyDescription: NSPropertyDescription {
  /// The request that finds the objects.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { willSet { checkMutable() } }

  override class func makeEmpty() -> NSPropertyDescription { NSFetchedPropertyDescription() }

  override func copyValues(to copy: NSPropertyDescription) {
    super.copyValues(to: copy)
    (copy as? NSFetchedPropertyDescription)?.fetchRequest = fetchRequest
  }
}

extension NSFetchedPropertyDescription {
  final func description() throws -> FetchedPropertyDescription {
    guard let fetchRequest else { throw CocoaError.modelFault("The fetched property \(name) has no fetchRequest.") }
    return FetchedPropertyDescription(
      name: name,
      fetchRequest: try fetchRequest.template(named: name),
      isOptional: isOptional,
      renamingIdentifier: renamingIdentifier,
      versionHashModifier: versionHashModifier,
      userInfo: notes
    )
  }

  convenience init(_ property: FetchedPropertyDescription) {
    self.init()
    name = property.name
    fetchRequest = NSFetchRequest(property.fetchRequest)
    isOptional = property.isOptional
    renamingIdentifier = property.renamingIdentifier
    versionHashModifier = property.versionHashModifier
    userInfo = property.userInfo
  }
}

// MARK: Templates

extension NSFetchRequest {
  /// Returns the request in the form in which models keep it.
  final func template(named name: String) throws -> FetchRequestTemplate {
    guard let entityName else { throw CocoaError.modelFault("The fetch request of \(name) has no entity.") }
    return FetchRequestTemplate(
      name: name,
      entityName: entityName,
      predicate: try predicate.map { try PredicateTree.predicate($0) },
      resultType: templateResultType,
      fetchLimit: fetchLimit,
      fetchBatchSize: fetchBatchSize,
      includesSubentities: includesSubentities,
      includesPropertyValues: includesPropertyValues,
      includesPendingChanges: includesPendingChanges,
      returnsObjectsAsFaults: returnsObjectsAsFaults,
      returnsDistinctResults: returnsDistinctResults
    )
  }

  private final var templateResultType: FetchRequestTemplate.ResultType {
    switch resultType {
    case .managedObjectIDResultType: .objectIDs
    case .dictionaryResultType: .dictionaries
    case .countResultType: .count
    default: .objects
    }
  }

  /// Creates the request of a template.
  convenience init(_ template: FetchRequestTemplate) {
    self.init(entityName: template.entityName)
    predicate = template.predicate.map(FormatArguments.predicate(of:))
    fetchLimit = template.fetchLimit
    fetchBatchSize = template.fetchBatchSize
    includesSubentities = template.includesSubentities
    includesPropertyValues = template.includesPropertyValues
    includesPendingChanges = template.includesPendingChanges
    returnsObjectsAsFaults = template.returnsObjectsAsFaults
    returnsDistinctResults = template.returnsDistinctResults
    switch template.resultType {
    case .objects: resultType = .managedObjectResultType
    case .objectIDs: resultType = .managedObjectIDResultType
    case .dictionaries: resultType = .dictionaryResultType
    case .count: resultType = .countResultType
    }
  }
}
