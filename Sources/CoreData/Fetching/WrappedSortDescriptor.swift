public import Foundation
import HeartwoodGraph
import HeartwoodModel
import Synchronization

/// An order that the standard library's `SortDescriptor` describes.
final class WrappedSortDescriptor<Root>: NSSortDescriptor {
  let wrapped: SortDescriptor<Root>

  init(_ wrapped: SortDescriptor<Root>) {
    self.wrapped = wrapped
    // Only `compare` uses the key path, and it is overridden.
    super.init(
      keyPath: \WrappedSortDescriptor<Root>.hash,
      ascending: wrapped.order == .forward,
      comparator: { _, _ in .orderedSame }
    )
  }

  override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
    guard let first = object1 as? Root, let second = object2 as? Root else { return .orderedSame }
    return wrapped.compare(first, second)
  }

  override var reversedSortDescriptor: Any {
    var reversed = wrapped
    reversed.order = wrapped.order == .forward ? .reverse : .forward
    return WrappedSortDescriptor(reversed)
  }

  override func isEqual(_ object: Any?) -> Bool { (object as? WrappedSortDescriptor<Root>)?.wrapped == wrapped }

  override var hash: Int { wrapped.hashValue }
}

/// A sort descriptor whose key may be known.
protocol WrappedOrder {
  var keyName: String? { get }
}

extension WrappedSortDescriptor: WrappedOrder {
  var keyName: String? { wrapped.keyPath.flatMap { KeyedPaths[$0] ?? KeyRecorder.name(of: $0) } }
}

extension NSSortDescriptor {
  /// Creates the order that a `SortDescriptor` describes. It has a ``key`` if the name of its key path can be learnt.
  public convenience init<Root: NSObject>(_ sortDescriptor: SortDescriptor<Root>) {
    self.init(making: { WrappedSortDescriptor(sortDescriptor) })
  }
}

extension SortDescriptor where Compared: NSObject {
  /// Creates the order of a sort descriptor; nil if it has neither a key nor was made of a `SortDescriptor`.
  public init?(_ descriptor: NSSortDescriptor, comparing comparedType: Compared.Type) {
    if let descriptor = descriptor as? WrappedSortDescriptor<Compared> {
      self = descriptor.wrapped
      return
    }
    guard let key = descriptor.key else { return nil }
    let keyPath = \Compared.[keyedValue: key]
    KeyedPaths.note(keyPath, key)
    self.init(keyPath, order: descriptor.ascending ? .forward : .reverse)
  }
}

// MARK: Keys as key paths

/// A value that is read by its key, in the order of fetches.
struct KeyedValue: Comparable {
  private let value: PropertyValue

  init(_ value: Any?) { self.value = value.flatMap(StoredValue.anyValue) ?? .null }

  static func < (left: KeyedValue, right: KeyedValue) -> Bool {
    SortOrdering(.value).compare(left.value, right.value) < 0
  }
}

extension NSObject {
  subscript(keyedValue key: String) -> KeyedValue {
    KeyedValue(KeyValueCoding.value(of: self, key.split(separator: ".").map(String.init)))
  }
}

/// The keys of key paths that were made of keys.
private enum KeyedPaths {
  // `@unchecked Sendable`: a key path does not change.
  private struct Path: Hashable, @unchecked Sendable {
    let keyPath: AnyKeyPath
  }

  private static let keys = Mutex<[Path: String]>([:])

  static func note(_ keyPath: AnyKeyPath, _ key: String) {
    let path = Path(keyPath: keyPath)
    keys.withLock { $0[path] = key }
  }

  static subscript(keyPath: AnyKeyPath) -> String? {
    let path = Path(keyPath: keyPath)
    return keys.withLock { $0[path] }
  }
}
