public import HeartwoodModel

/// Into which sections live results are divided, and how the sections are ordered.
///
/// Results are in the order of their sections first, and in that of the request's sort descriptors within each.
public struct FetchedResultsSectionKey<Object: ManagedObject> {
  enum Source {
    case keyPaths(order: FetchSortDescriptor, name: String?)
    case computed((Object) -> String?)
  }

  let source: Source
  let isAscending: Bool
  let comparison: FetchSortDescriptor.Comparison

  /// A section for each value that `keyPath` leads to, such as `priority` or `list.name`, in the order of the values.
  public static func keyPath(
    _ keyPath: String,
    ascending isAscending: Bool = true,
    comparison: FetchSortDescriptor.Comparison = .value
  ) -> FetchedResultsSectionKey {
    sorted(by: FetchSortDescriptor(keyPath, ascending: isAscending, comparison: comparison))
  }

  /// A section for each value of the descriptor's key path, in its order.
  ///
  /// - Parameter name: the key path of the sections' names where that is another one, such as `list.name` for sections in the order
  ///   of `list.position`. Objects with different names are in different sections.
  public static func sorted(by descriptor: FetchSortDescriptor, name: String? = nil) -> FetchedResultsSectionKey {
    FetchedResultsSectionKey(
      source: .keyPaths(order: descriptor, name: name),
      isAscending: descriptor.isAscending,
      comparison: descriptor.comparison
    )
  }

  /// A section for each name that `name` gives, such as the first letter of a title, or a month, in the order of the names.
  ///
  /// Each object is read for it. It is asked again when the object changes; it should look at nothing else.
  public static func computed(
    ascending isAscending: Bool = true,
    comparison: FetchSortDescriptor.Comparison = .value,
    _ name: @escaping (Object) -> String?
  ) -> FetchedResultsSectionKey {
    FetchedResultsSectionKey(source: .computed(name), isAscending: isAscending, comparison: comparison)
  }
}

extension FetchedResultsSectionKey {
  var order: LiveSectionOrder { LiveSectionOrder(ordering: SortOrdering(comparison), isAscending: isAscending) }

  func compiled(for entity: EntityDescription, in model: ManagedObjectModel) throws(FetchPredicateError)
    -> LiveSectioning
  {
    switch source {
    case .keyPaths(let descriptor, let name):
      let order = try SortPlan(descriptor, for: entity, in: model).expression
      guard let name else { return .paths(order: order, name: nil) }
      return .paths(order: order, name: try SortPlan(FetchSortDescriptor(name), for: entity, in: model).expression)
    case .computed(let name):
      return .computed { object in (object as? Object).flatMap(name) }
    }
  }
}

/// How the section of an object is found.
enum LiveSectioning {
  /// All objects are in one section.
  case none
  case paths(order: PlanExpression, name: PlanExpression?)
  case computed((ManagedObject) -> String?)

  var expressions: [PlanExpression] {
    if case .paths(let order, let name) = self { [order] + (name.map { [$0] } ?? []) } else { [] }
  }

  /// - Parameters:
  ///   - value: gives the value of an expression for the object.
  ///   - object: gives the object, which need not be made otherwise.
  func key(_ value: (PlanExpression) -> PropertyValue, _ object: () -> ManagedObject) -> LiveSectionKey {
    switch self {
    case .none: return LiveSectionKey(order: .null, name: .null)
    case .paths(let order, let name):
      let key = value(order)
      return LiveSectionKey(order: key, name: name.map(value) ?? key)
    case .computed(let name):
      let text = name(object()).map(PropertyValue.string) ?? .null
      return LiveSectionKey(order: text, name: text)
    }
  }
}
