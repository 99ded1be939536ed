public import Foundation
import HeartwoodGraph
import HeartwoodModel

/// A predicate that was read from a format string.
final class FormatPredicate: NSPredicate {
  private let format: String
  private let arguments: [Any]
  private let variables: [String: Any]
  private let parsed: FetchPredicate

  init(format: String, arguments: [Any], variables: [String: Any] = [:]) throws {
    self.format = format
    self.arguments = arguments
    self.variables = variables
    parsed = try Self.parse(format, arguments, variables)
    super.init(value: true)
  }

  private static func parse(_ format: String, _ arguments: [Any], _ variables: [String: Any]) throws -> FetchPredicate {
    let tree = try FetchPredicate(format: format, arguments: arguments.map(PredicateTree.argument))
    return variables.isEmpty ? tree : tree.substituting(try variables.mapValues(PredicateTree.argument))
  }

  /// The condition. Objects among the arguments may have been saved since it was read, which gives them other ids.
  func tree() throws -> FetchPredicate {
    let isStable = !arguments.contains { $0 is NSManagedObject } && !variables.values.contains { $0 is NSManagedObject }
    return isStable ? parsed : try Self.parse(format, arguments, variables)
  }

  func substituting(_ values: [String: Any]) throws -> FormatPredicate {
    try FormatPredicate(format: format, arguments: arguments, variables: variables.merging(values) { $1 })
  }

  override var predicateFormat: String { parsed.description }

  override var description: String { parsed.description }

  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool { (object as? FormatPredicate)?.parsed == parsed }

  override var hash: Int { parsed.hashValue }

  override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    do {
      let predicate = try bindings.map(substituting) ?? self
      return try PredicateTree.matches(try predicate.tree(), object)
    } catch {
      ProgrammerError.stop("The predicate \(predicateFormat) cannot be evaluated: \(error)")
    }
  }
}

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
      return try FormatPredicate(format: format, arguments: arguments)
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
  let name: String
  let comparison: FetchSortDescriptor.Comparison

  init(name: String, ascending: Bool, comparison: FetchSortDescriptor.Comparison = .value) {
    self.name = name
    self.comparison = comparison
    // Only `compare` uses the key path, and it is overridden.
    super.init(keyPath: \KeySortDescriptor.name, ascending: ascending, comparator: { _, _ in .orderedSame })
  }

  override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
    let keys = name.split(separator: ".").map(String.init)
    let values = [object1, object2].map { KeyValueCoding.value(of: $0, keys).flatMap(StoredValue.anyValue) ?? .null }
    let order = SortOrdering(comparison).compare(values[0], values[1])
    if order == 0 { return .orderedSame }
    return (order < 0) == ascending ? .orderedAscending : .orderedDescending
  }

  override var reversedSortDescriptor: Any {
    KeySortDescriptor(name: name, ascending: !ascending, comparison: comparison)
  }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? KeySortDescriptor else { return false }
    return name == other.name && ascending == other.ascending && comparison == other.comparison
  }

  override var hash: Int { name.hashValue }
}

extension NSSortDescriptor {
  /// Creates an order by the value at a key path: `NSSortDescriptor(key: "sortOrder", ascending: true)`.
  public convenience init(key: String?, ascending: Bool) {
    self.init(making: { KeySortDescriptor(name: key ?? "self", ascending: ascending) })
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
  public var key: String? { (self as? KeySortDescriptor)?.name ?? KeyRecorder.name(of: keyPath) }
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
