public import Foundation
import HeartwoodModel

/// A method that an object is to be sent, by name.
///
/// The command heartwood-coredata makes one of `#selector(Stack.contextDidSave(_:))`:
///
///     Selector("contextDidSave(_:)", Stack.contextDidSave(_:))
public struct Selector: Hashable, CustomStringConvertible {
  /// The name of the method.
  public let description: String
  private let send: (AnyObject, Notification) -> Void

  /// Creates the selector of a method that takes a notification.
  public init<Target: AnyObject, Argument, Result>(
    _ name: String,
    _ method: @escaping (Target) -> (Argument) -> Result
  ) {
    description = name
    send = { target, notification in
      guard let target = target as? Target, let argument = notification as? Argument else {
        ProgrammerError.stop("\(type(of: target)) has no method \(name) for a notification.")
      }
      _ = method(target)(argument)
    }
  }

  /// Creates the selector of a method without arguments.
  public init<Target: AnyObject, Result>(_ name: String, _ method: @escaping (Target) -> () -> Result) {
    description = name
    send = { target, _ in
      guard let target = target as? Target else {
        ProgrammerError.stop("\(type(of: target)) has no method \(name).")
      }
      _ = method(target)()
    }
  }

  func callAsFunction(_ target: AnyObject, _ notification: Notification) { send(target, notification) }

  /// Returns whether two selectors have the same name.
  public static func == (left: Selector, right: Selector) -> Bool { left.description == right.description }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

// MARK: NotificationCenter

extension NotificationCenter {
  /// Sends an object a message for each notification, on the thread that posts it. The object is not retained.
  public func addObserver(
    _ observer: Any,
    selector aSelector: Selector,
    name aName: NSNotification.Name?,
    object anObject: Any?
  ) {
    let observer = observer as AnyObject
    let work = Work { [weak observer] (notification: Notification) in
      if let observer { aSelector(observer, notification) }
    }
    let token = addObserver(forName: aName, object: anObject, queue: nil) { work.body($0) }
    SelectorObservers.shared.add(observer, self, token, aName, anObject.map { $0 as AnyObject })
  }

  /// Ends what `addObserver` began for an object, or for the token of a block. The command heartwood-coredata makes
  /// this of `removeObserver(_:)`, since Foundation's own knows no observers with selectors on this system.
  public func removeSelectorObserver(_ observer: Any) { removeSelectorObserver(observer, name: nil, object: nil) }

  /// Ends what `addObserver` began for an object, for the notifications of a name or an object alone.
  public func removeSelectorObserver(_ observer: Any, name aName: NSNotification.Name?, object anObject: Any?) {
    removeObserver(observer, name: aName, object: anObject)
    SelectorObservers.shared.remove(observer as AnyObject, self, aName, anObject.map { $0 as AnyObject })
  }
}

/// The observers that have selectors.
// `@unchecked Sendable`: the entries are behind a lock.
private final class SelectorObservers: @unchecked Sendable {
  static let shared = SelectorObservers()

  private struct Entry {
    weak var observer: AnyObject?
    weak var center: NotificationCenter?
    weak var object: AnyObject?
    let token: any NSObjectProtocol
    let name: NSNotification.Name?

    func isOf(_ other: AnyObject, _ otherCenter: NotificationCenter) -> Bool {
      observer === other && center === otherCenter
    }
  }

  private let lock = NSLock()
  private var entries: [Entry] = []

  func add(
    _ observer: AnyObject,
    _ center: NotificationCenter,
    _ token: any NSObjectProtocol,
    _ name: NSNotification.Name?,
    _ object: AnyObject?
  ) {
    remove { $0.observer == nil }
    let entry = Entry(observer: observer, center: center, object: object, token: token, name: name)
    lock.withLock { entries.append(entry) }
  }

  func remove(
    _ observer: AnyObject,
    _ center: NotificationCenter,
    _ name: NSNotification.Name?,
    _ object: AnyObject?
  ) {
    remove { entry in
      entry.isOf(observer, center) && (name == nil || entry.name == name) && (object == nil || entry.object === object)
    }
  }

  private func remove(_ isRemoved: (Entry) -> Bool) {
    let removed = lock.withLock {
      let removed = entries.filter(isRemoved)
      entries.removeAll(where: isRemoved)
      return removed
    }
    for entry in removed { entry.center?.removeObserver(entry.token) }
  }
}
