import Foundation

/// A fetch whose caller does not wait for the results.
///
///     let request = NSAsynchronousFetchRequest(fetchRequest: ToDo.fetchRequest()) { result in
///       print(result.finalResult?.count ?? 0)
///     }
///     try context.execute(request)
///
/// The fetch is the next block on the queue of the context.
open class NSAsynchronousFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest {
  /// The fetch.
  public final let fetchRequest: NSFetchRequest<ResultType>
  /// Called with the result, on the queue of the context.
  public final let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
  /// How many results the application expects, for its own use.
  open var estimatedResultCount = 0

  /// Creates an asynchronous fetch.
  public init(
    fetchRequest request: NSFetchRequest<ResultType>,
    completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
  ) {
    fetchRequest = request
    completionBlock = blk
  }
}

/// The result of a request that is executed later.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
  /// The context that executes the request.
  public final let managedObjectContext: NSManagedObjectContext
  /// Why the request has failed.
  open fileprivate(set) var operationError: (any Error)?
  private let lock = NSLock()
  private var hasEnded = false

  init(_ context: NSManagedObjectContext) { managedObjectContext = context }

  /// Ends the request, if it has not begun. Its result then has the error `CocoaError.userCancelled`.
  open func cancel() {
    if end() { operationError = CocoaError(.userCancelled) }
  }

  /// Returns whether the request has not ended before.
  fileprivate final func end() -> Bool {
    lock.withLock {
      defer { hasEnded = true }
      return !hasEnded
    }
  }
}

/// The result of an asynchronous fetch.
open class NSAsynchronousFetchResult<ResultType: NSFetchRequestResult>: NSPersistentStoreAsynchronousResult {
  /// The request.
  public final let fetchRequest: NSAsynchronousFetchRequest<ResultType>
  /// The results, once they are there.
  open fileprivate(set) var finalResult: [ResultType]?

  fileprivate init(_ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext) {
    fetchRequest = request
    super.init(context)
  }

  fileprivate final func run() {
    if end() {
      do {
        finalResult = try managedObjectContext.fetch(fetchRequest.fetchRequest)
      } catch {
        operationError = error
      }
    }
    fetchRequest.completionBlock?(self)
  }
}

// MARK: Executing

/// An asynchronous fetch of any results.
protocol AsynchronousRequest {
  /// Executes the request later.
  func start(in context: NSManagedObjectContext) -> NSPersistentStoreResult
}

extension NSAsynchronousFetchRequest: AsynchronousRequest {
  final func start(in context: NSManagedObjectContext) -> NSPersistentStoreResult {
    let result = NSAsynchronousFetchResult(self, context)
    context.perform { result.run() }
    return result
  }
}
