import HeartwoodFoundation
public import HeartwoodModel

/// A section of live results at the time at which it was requested.
public struct FetchedResultsSection<Object: ManagedObject> {
  /// The name: the text of the section's value; empty if there is no value.
  public let name: String
  /// The value from which the name is made; `null` for results without sections.
  public let value: PropertyValue
  /// The title of the section in an index at the side of a list; nil if it has none.
  public let indexTitle: String?
  /// The objects of the section, in their order.
  public let objects: FetchedObjects<Object>

  /// The number of objects.
  public var numberOfObjects: Int { objects.count }
}

extension LiveSection {
  /// The value of the section, as text.
  var name: String { key.name.sectionName }
}

extension PropertyValue {
  fileprivate var sectionName: String {
    switch self {
    case .null: ""
    case .string(let text): text
    case .boolean(let flag): flag ? "true" : "false"
    case .integer(let number): String(number)
    case .double(let number): String(number)
    case .float(let number): String(number)
    case .decimal(let number): number.description
    case .date: text(of: .date) ?? ""
    case .uuid(let uuid): uuid.uuidString
    case .uri(let uri): uri.absoluteString
    case .binary, .toOne, .toMany: description
    }
  }
}

// MARK: FetchedResultsSectionKey

/// The rule that divides live results into sections, and the order of the sections.
///
/// Results are sorted by sections first, and by the request's sort descriptors within each.
public struct FetchedResultsSectionKey<Object: ManagedObject> {
  enum Source {
    case keyPaths(order: FetchSortDescriptor, name: String?)
    case computed((Object) -> String?)
  }

  let source: Source
  let isAscending: Bool
  let comparison: FetchSortDescriptor.Comparison

  /// Returns a key with a section for each value of `keyPath`, such as `priority` or `list.name`, in the order of the
  /// values.
  public static func keyPath(
    _ keyPath: String,
    ascending isAscending: Bool = true,
    comparison: FetchSortDescriptor.Comparison = .value
  ) -> FetchedResultsSectionKey {
    sorted(by: FetchSortDescriptor(keyPath, ascending: isAscending, comparison: comparison))
  }

  /// Returns a key with a section for each value of the descriptor's key path, in its order.
  ///
  /// - Parameter name: the key path of the sections' names if it is another one, such as `list.name` for sections in
  ///   the order of `list.position`. Objects with different names are in different sections.
  public static func sorted(by descriptor: FetchSortDescriptor, name: String? = nil) -> FetchedResultsSectionKey {
    FetchedResultsSectionKey(
      source: .keyPaths(order: descriptor, name: name),
      isAscending: descriptor.isAscending,
      comparison: descriptor.comparison
    )
  }

  /// Returns a key with a section for each name that `name` returns, such as the first letter of a title, or a month,
  /// in the order of the names.
  ///
  /// Every object is read for it. `name` is called again when the object changes; it should read nothing else.
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
      let order = try CompiledSort(descriptor, for: entity, in: model).expression
      guard let name else { return .paths(order: order, name: nil) }
      return .paths(order: order, name: try CompiledSort(FetchSortDescriptor(name), for: entity, in: model).expression)
    case .computed(let name):
      return .computed { object in (object as? Object).flatMap(name) }
    }
  }
}

/// The way in which the section of an object is determined.
enum LiveSectioning {
  /// All objects are in one section.
  case none
  case paths(order: CompiledExpression, name: CompiledExpression?)
  case computed((ManagedObject) -> String?)

  var expressions: [CompiledExpression] {
    if case .paths(let order, let name) = self { [order] + (name.map { [$0] } ?? []) } else { [] }
  }

  /// - Parameters:
  ///   - value: returns the value of an expression for the object.
  ///   - object: returns the object, which is created only if this is called.
  func key(_ value: (CompiledExpression) -> PropertyValue, _ object: () -> ManagedObject) -> LiveSectionKey {
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

// MARK: FetchedObjects

/// The objects of live results, or of a section, at the time at which they were requested. They are not copied.
public struct FetchedObjects<Object: ManagedObject>: RandomAccessCollection {
  private let elements: ChunkedElements<LiveEntry>

  init(_ sections: some Sequence<LiveSection>) {
    elements = ChunkedElements(sections.flatMap { $0.chunks.map(\.entries) })
  }

  /// 0, the index of the first object.
  public var startIndex: Int { 0 }
  /// The number of objects.
  public var endIndex: Int { elements.count }

  /// The object at `position`. O(log objects).
  public subscript(position: Int) -> Object {
    guard let object = elements[position].object as? Object else {
      ProgrammerError.stop("Objects of another class than the request's are not let in.")
    }
    return object
  }
}
