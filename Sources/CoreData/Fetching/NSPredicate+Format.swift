public import Foundation
import HeartwoodGraph
import HeartwoodModel

// MARK: NSPredicate

/// Lets an initializer return an object of a subclass.
protocol SubclassMaking {}

extension SubclassMaking {
  init(making make: () -> AnyObject) {
    guard let made = make() as? Self else { ProgrammerError.stop("The class \(Self.self) makes no such objects.") }
    self = made
  }
}

extension NSPredicate: SubclassMaking {}
extension NSSortDescriptor: SubclassMaking {}

extension NSPredicate {
  /// Creates a predicate from a format string: `NSPredicate(format: "memo CONTAINS[cd] %@ AND done == NO", text)`.
  ///
  /// The format must be well-formed, and the arguments values that attributes can have, objects or collections.
  public convenience init(format predicateFormat: String, _ args: any CVarArg...) {
    self.init(making: { Self.make(predicateFormat, args) })
  }

  /// Creates a predicate from a format string and its arguments.
  public convenience init(format predicateFormat: String, argumentArray arguments: [Any]?) {
    self.init(making: { Self.make(predicateFormat, arguments ?? []) })
  }

  private static func make(_ format: String, _ arguments: [Any]) -> NSPredicate {
    do {
      return try FormatArguments(arguments).predicate(format)
    } catch {
      ProgrammerError.stop("Unable to parse the format string \"\(format)\": \(error)")
    }
  }

  /// Returns the predicate with values in place of its variables (`$name`).
  public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
    do {
      let made = try PredicateTree.substituting(self, variables)
      guard let made = made as? Self else { ProgrammerError.stop("The predicate is of a class of its own.") }
      return made
    } catch {
      ProgrammerError.stop("The variables cannot be substituted: \(error)")
    }
  }
}

// MARK: NSSortDescriptor

/// An order by the value at a key path.
final class KeySortDescriptor: NSSortDescriptor {
  /// The key path; nil for the objects themselves.
  let givenName: String?
  var name: String { givenName ?? "self" }
  let comparison: FetchSortDescriptor.Comparison
  /// The application's own order of the values, which no store knows.
  let ownComparator: Comparator?

  init(
    name: String?,
    ascending: Bool,
    comparison: FetchSortDescriptor.Comparison = .value,
    comparator: Comparator? = nil
  ) {
    givenName = name
    self.comparison = comparison
    ownComparator = comparator
    // Only `compare` uses the key path, and it is overridden.
    super.init(
      keyPath: \KeySortDescriptor.name,
      ascending: ascending,
      comparator: comparator ?? { _, _ in .orderedSame }
    )
  }

  override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
    let keys = name.split(separator: ".").map(String.init)
    if let ownComparator {
      let order = ownComparator(
        KeyValueCoding.value(of: object1, keys) ?? NSNull(),
        KeyValueCoding.value(of: object2, keys) ?? NSNull()
      )
      return ascending ? order : ComparisonResult(rawValue: -order.rawValue) ?? .orderedSame
    }
    let values = [object1, object2].map { KeyValueCoding.value(of: $0, keys).flatMap(StoredValue.anyValue) ?? .null }
    let order = SortOrdering(comparison).compare(values[0], values[1])
    if order == 0 { return .orderedSame }
    return (order < 0) == ascending ? .orderedAscending : .orderedDescending
  }

  override var reversedSortDescriptor: Any {
    KeySortDescriptor(name: givenName, ascending: !ascending, comparison: comparison, comparator: ownComparator)
  }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? KeySortDescriptor else { return false }
    if ownComparator != nil || other.ownComparator != nil { return self === other }
    return name == other.name && ascending == other.ascending && comparison == other.comparison
  }

  override var hash: Int { name.hashValue }
}

extension NSSortDescriptor {
  /// Creates an order by the value at a key path: `NSSortDescriptor(key: "sortOrder", ascending: true)`.
  public convenience init(key: String?, ascending: Bool) {
    self.init(making: { KeySortDescriptor(name: key, ascending: ascending) })
  }

  /// Creates an order of one's own of the values at a key path, for arrays. No store knows it: a fetch with it throws
  /// an error.
  public convenience init(key: String?, ascending: Bool, comparator cmptr: @escaping Comparator) {
    self.init(making: { KeySortDescriptor(name: key, ascending: ascending, comparator: cmptr) })
  }

  /// Creates an order by the property that a key path of a managed object reads.
  public convenience init<Root: NSManagedObject, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self.init(making: {
      guard let name = KeyRecorder.name(of: keyPath) else {
        ProgrammerError.stop("The key path \(keyPath) reads no property of the model.")
      }
      return KeySortDescriptor(name: name, ascending: ascending)
    })
  }

  /// The key path that objects are ordered by.
  public var key: String? {
    if let wrapped = self as? any WrappedOrder { return wrapped.keyName }
    if let descriptor = self as? KeySortDescriptor { return descriptor.givenName }
    return KeyRecorder.name(of: keyPath)
  }
}

// MARK: Arguments

// Objects of Foundation are arguments of formats, as they are on Apple's systems.

extension NSObject: @retroactive CVarArg {
  /// The argument itself is read from a list of arguments; the encoding stands for it.
  public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}

extension Date: @retroactive CVarArg {
  /// The argument itself is read from a list of arguments; the encoding stands for it.
  public var _cVarArgEncoding: [Int] { timeIntervalSinceReferenceDate._cVarArgEncoding }
}

extension UUID: @retroactive CVarArg {
  /// The argument itself is read from a list of arguments; the encoding stands for it.
  public var _cVarArgEncoding: [Int] { [hashValue] }
}

extension Data: @retroactive CVarArg {
  /// The argument itself is read from a list of arguments; the encoding stands for it.
  public var _cVarArgEncoding: [Int] { [hashValue] }
}

extension URL: @retroactive CVarArg {
  /// The argument itself is read from a list of arguments; the encoding stands for it.
  public var _cVarArgEncoding: [Int] { [hashValue] }
}

extension Array: @retroactive CVarArg {
  /// The argument itself is read from a list of arguments; the encoding stands for it.
  public var _cVarArgEncoding: [Int] { [count] }
}

extension Set: @retroactive CVarArg {
  /// The argument itself is read from a list of arguments; the encoding stands for it.
  public var _cVarArgEncoding: [Int] { [count] }
}
