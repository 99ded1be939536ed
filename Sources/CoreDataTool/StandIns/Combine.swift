// A small module in place of Combine, for tests of packages that use a little of it. It delivers values as they come,
// without demand, and ends no subscription on its own.

public import Dispatch
public import Foundation

// MARK: Publishers

/// Sends values to subscribers.
public protocol Publisher<Output, Failure> {
  associatedtype Output
  associatedtype Failure: Error

  /// Calls `receive` for each value until the result is cancelled.
  func subscribe(
    _ receive: @escaping (Output) -> Void,
    _ complete: @escaping (Subscribers.Completion<Failure>) -> Void
  ) -> AnyCancellable
}

/// What belongs to subscribers.
public enum Subscribers {
  /// The end of a subscription.
  public enum Completion<Failure: Error> {
    case finished
    case failure(Failure)
  }
}

extension Publisher {
  /// Calls `receiveValue` for each value.
  public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable where Failure == Never {
    subscribe(receiveValue, { _ in })
  }

  /// Calls `receiveValue` for each value, and `receiveCompletion` at the end.
  public func sink(
    receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void,
    receiveValue: @escaping (Output) -> Void
  ) -> AnyCancellable {
    subscribe(receiveValue, receiveCompletion)
  }

  /// Sets a property to each value.
  public func assign<Root>(to keyPath: ReferenceWritableKeyPath<Root, Output>, on object: Root) -> AnyCancellable
  where Failure == Never {
    sink { object[keyPath: keyPath] = $0 }
  }

  /// Changes each value.
  public func map<Result>(_ transform: @escaping (Output) -> Result) -> AnyPublisher<Result, Failure> {
    AnyPublisher { receive, complete in subscribe({ receive(transform($0)) }, complete) }
  }

  /// Changes each value, and leaves out those that become nil.
  public func compactMap<Result>(_ transform: @escaping (Output) -> Result?) -> AnyPublisher<Result, Failure> {
    AnyPublisher { receive, complete in
      subscribe({ value in if let result = transform(value) { receive(result) } }, complete)
    }
  }

  /// Leaves out values.
  public func filter(_ isIncluded: @escaping (Output) -> Bool) -> AnyPublisher<Output, Failure> {
    AnyPublisher { receive, complete in
      subscribe({ value in if isIncluded(value) { receive(value) } }, complete)
    }
  }

  /// Leaves out the first values.
  public func dropFirst(_ count: Int = 1) -> AnyPublisher<Output, Failure> {
    AnyPublisher { receive, complete in
      var left = count
      return subscribe({ value in if left > 0 { left -= 1 } else { receive(value) } }, complete)
    }
  }

  /// Delivers values on a queue.
  public func receive(on queue: DispatchQueue) -> AnyPublisher<Output, Failure> {
    AnyPublisher { receive, complete in
      subscribe(
        { value in
          let work = Work { receive(value) }
          queue.async { work.body() }
        },
        { end in
          let work = Work { complete(end) }
          queue.async { work.body() }
        }
      )
    }
  }

  /// Hides the type of the publisher.
  public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { AnyPublisher(subscribe) }
}

/// A block on its way to a queue.
// `@unchecked Sendable`: as in Combine, the caller sees to it that the block touches nothing of other threads.
private struct Work: @unchecked Sendable {
  let body: () -> Void
}

/// A publisher of any type.
public struct AnyPublisher<Output, Failure: Error>: Publisher {
  private let body: (@escaping (Output) -> Void, @escaping (Subscribers.Completion<Failure>) -> Void) -> AnyCancellable

  init(
    _ body:
      @escaping (
        @escaping (Output) -> Void, @escaping (Subscribers.Completion<Failure>) -> Void
      ) -> AnyCancellable
  ) {
    self.body = body
  }

  /// Calls `receive` for each value until the result is cancelled.
  public func subscribe(
    _ receive: @escaping (Output) -> Void,
    _ complete: @escaping (Subscribers.Completion<Failure>) -> Void
  ) -> AnyCancellable {
    body(receive, complete)
  }
}

// MARK: Cancelling

/// A subscription that can be ended.
public protocol Cancellable {
  /// Ends the subscription.
  func cancel()
}

/// A subscription that ends when it is deallocated.
public final class AnyCancellable: Cancellable, Hashable {
  private var body: (() -> Void)?

  /// Creates a subscription that is ended by `cancel`.
  public init(_ cancel: @escaping () -> Void) { body = cancel }

  deinit { cancel() }

  /// Ends the subscription.
  public func cancel() {
    let body = body
    self.body = nil
    body?()
  }

  /// Keeps the subscription in a set.
  public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }

  /// Keeps the subscription in a collection.
  public func store<Subscriptions: RangeReplaceableCollection>(in collection: inout Subscriptions)
  where Subscriptions.Element == AnyCancellable {
    collection.append(self)
  }

  /// Returns whether both are the same subscription.
  public static func == (left: AnyCancellable, right: AnyCancellable) -> Bool { left === right }

  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

// MARK: Subjects

/// The subscribers of a subject.
// `@unchecked Sendable`: the lock protects the subscribers.
final class Subscriptions<Output, Failure: Error>: @unchecked Sendable {
  private typealias Subscriber = (
    receive: (Output) -> Void, complete: (Subscribers.Completion<Failure>) -> Void
  )

  private let lock = NSLock()
  private var subscribers: [Int: Subscriber] = [:]
  private var number = 0

  func add(
    _ receive: @escaping (Output) -> Void,
    _ complete: @escaping (Subscribers.Completion<Failure>) -> Void
  ) -> AnyCancellable {
    let own = lock.withLock {
      number += 1
      subscribers[number] = (receive, complete)
      return number
    }
    return AnyCancellable { [weak self] in self?.remove(own) }
  }

  private func remove(_ number: Int) { lock.withLock { subscribers[number] = nil } }

  func send(_ value: Output) {
    for subscriber in lock.withLock({ subscribers.sorted { $0.key < $1.key } }) { subscriber.value.receive(value) }
  }

  func end(_ completion: Subscribers.Completion<Failure>) {
    let ended = lock.withLock {
      defer { subscribers = [:] }
      return subscribers.sorted { $0.key < $1.key }
    }
    for subscriber in ended { subscriber.value.complete(completion) }
  }
}

/// Sends what it is given.
public final class PassthroughSubject<Output, Failure: Error>: Publisher, @unchecked Sendable {
  // `@unchecked Sendable`: the subscriptions protect themselves.
  private let subscriptions = Subscriptions<Output, Failure>()

  /// Creates a subject without subscribers.
  public init() {}

  /// Sends a value to the subscribers.
  public func send(_ value: Output) { subscriptions.send(value) }

  /// Ends the subscriptions.
  public func send(completion: Subscribers.Completion<Failure>) { subscriptions.end(completion) }

  /// Calls `receive` for each value until the result is cancelled.
  public func subscribe(
    _ receive: @escaping (Output) -> Void,
    _ complete: @escaping (Subscribers.Completion<Failure>) -> Void
  ) -> AnyCancellable {
    subscriptions.add(receive, complete)
  }
}

extension PassthroughSubject where Output == Void {
  /// Tells the subscribers.
  public func send() { send(()) }
}

/// Sends what it is given, and to new subscribers the newest value.
public final class CurrentValueSubject<Output, Failure: Error>: Publisher, @unchecked Sendable {
  // `@unchecked Sendable`: the lock protects the value, and the subscriptions protect themselves.
  private let subscriptions = Subscriptions<Output, Failure>()
  private let lock = NSLock()
  private var current: Output

  /// Creates a subject with its first value.
  public init(_ value: Output) { current = value }

  /// The newest value.
  public var value: Output {
    get { lock.withLock { current } }
    set { send(newValue) }
  }

  /// Sends a value to the subscribers.
  public func send(_ value: Output) {
    lock.withLock { current = value }
    subscriptions.send(value)
  }

  /// Calls `receive` for the newest value and each later one until the result is cancelled.
  public func subscribe(
    _ receive: @escaping (Output) -> Void,
    _ complete: @escaping (Subscribers.Completion<Failure>) -> Void
  ) -> AnyCancellable {
    receive(value)
    return subscriptions.add(receive, complete)
  }
}

// MARK: Observable objects

/// An object that tells before it changes.
public protocol ObservableObject: AnyObject {
  associatedtype ObjectWillChangePublisher: Publisher = ObservableObjectPublisher
  where ObjectWillChangePublisher.Failure == Never

  /// Tells before the object changes.
  var objectWillChange: ObjectWillChangePublisher { get }
}

/// Tells before an object changes.
public final class ObservableObjectPublisher: Publisher, @unchecked Sendable {
  /// The values, which tell nothing.
  public typealias Output = Void
  /// It never fails.
  public typealias Failure = Never

  // `@unchecked Sendable`: the subscriptions protect themselves.
  private let subscriptions = Subscriptions<Void, Never>()

  /// Creates a publisher without subscribers.
  public init() {}

  /// Tells the subscribers.
  public func send() { subscriptions.send(()) }

  /// Calls `receive` for each change until the result is cancelled.
  public func subscribe(
    _ receive: @escaping (()) -> Void,
    _ complete: @escaping (Subscribers.Completion<Never>) -> Void
  ) -> AnyCancellable {
    subscriptions.add(receive, complete)
  }
}

extension ObservableObject where ObjectWillChangePublisher == ObservableObjectPublisher {
  /// Tells before the object changes.
  public nonisolated var objectWillChange: ObservableObjectPublisher { ObjectPublishers.shared.publisher(of: self) }
}

/// The publishers of objects that have none of their own.
// `@unchecked Sendable`: the lock protects the publishers.
private final class ObjectPublishers: @unchecked Sendable {
  private struct Entry {
    weak var object: AnyObject?
    let publisher: ObservableObjectPublisher
  }

  static let shared = ObjectPublishers()
  private let lock = NSLock()
  private var entries: [ObjectIdentifier: Entry] = [:]

  func publisher(of object: AnyObject) -> ObservableObjectPublisher {
    lock.withLock {
      let key = ObjectIdentifier(object)
      if let entry = entries[key], entry.object === object { return entry.publisher }
      entries = entries.filter { $0.value.object != nil }
      let publisher = ObservableObjectPublisher()
      entries[key] = Entry(object: object, publisher: publisher)
      return publisher
    }
  }
}

// MARK: Foundation

extension NotificationCenter {
  /// Sends the notifications of a name.
  public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> AnyPublisher<Notification, Never> {
    AnyPublisher { receive, _ in
      let work = Received(body: receive)
      let token = Observation(token: self.addObserver(forName: name, object: object, queue: nil) { work.body($0) })
      return AnyCancellable { self.removeObserver(token.token) }
    }
  }
}

/// What is called for each notification.
// `@unchecked Sendable`: as in Combine, it is called where the notification is posted.
private struct Received: @unchecked Sendable {
  let body: (Notification) -> Void
}

/// What a notification centre knows an observer by.
private struct Observation {
  let token: any NSObjectProtocol
}
