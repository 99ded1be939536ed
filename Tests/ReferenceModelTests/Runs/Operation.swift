import HeartwoodModel
import HeartwoodStore

/// One step of a run. Objects are called by keys, and contexts by their index.
///
/// A step can be left out of a sequence: those after it that are not possible then are left out too.
enum Operation {
  case insert(Key, String, Int)
  case set(Key, String, PropertyValue, Route, Int)
  case relate(Key, String, [Key], Route, Int)
  case delete(Key, Int)
  case read(Key, Int)
  case fetch(String, Int)
  case count(String, Int)
  case fetchWhere(FetchQuery, Int)
  /// Takes in what another context has saved last.
  case merge(Int, from: Int)
  /// Stays at the version that the store has now.
  case pin(Int)
  /// Stays at a version that some context was pinned to, the one of this number.
  case pinBack(Int, to: Int)
  case unpin(Int)
  /// Saves a context, and then all its parents, each as an operation of its own.
  case save(Int, thenParents: Bool = false)
  /// A save during which an operation of the file system fails, the one of this number.
  case saveWithFault(Int, Int)
  /// Does with an object, a relationship of it, and another object what must be refused.
  case misuse(Misuse, Key, String, Key, Int)
  case rollback(Int)
  case reset(Int)
  case refresh(Key, mergingChanges: Bool, Int)
  case processPendingChanges(Int)
  case undo(Int)
  case redo(Int)
  /// Nobody holds the object any more.
  case release(Key, Int)
  /// Reads all there is in a context.
  case readAll(Int)
  /// Converts the store to another kind while contexts use it.
  case convert(StoreKind)
  /// Reads the store's file in another coordinator.
  case inspect
  case history(HistoryRequest)
  /// Forgets the transactions up to one.
  case purgeHistory(Int)
  /// Closes the store and opens its file with new contexts.
  case reopen
}

extension Operation {
  /// The object that the operation is about, and its context.
  var subject: (key: Key, context: Int)? {
    switch self {
    case .insert(let key, _, let context), .set(let key, _, _, _, let context),
      .relate(let key, _, _, _, let context), .misuse(_, let key, _, _, let context),
      .delete(let key, let context), .read(let key, let context), .refresh(let key, _, let context),
      .release(let key, let context):
      (key, context)
    default: nil
    }
  }

  var isSave: Bool {
    switch self {
    case .save, .saveWithFault: true
    default: false
    }
  }
}

/// How a value is set.
enum Route: CaseIterable {
  /// By name, as a `PropertyValue`.
  case propertyValue
  /// By name, as a value of Swift.
  case swiftValue
  /// By a typed key.
  case key
}

/// What an operation came to, as far as the caller learns of it.
enum Outcome: Equatable {
  case done
  case keys(Set<Key>)
  case count(Int)
  case found(FetchResult, FetchQuery)
  /// How many events can be undone and redone.
  case undoable(Int, redoable: Int)
  /// Objects are not fit to be saved.
  case invalid(Set<ReferenceProblem>)
  /// Somebody else has saved these, or some of these, objects.
  case conflict(Set<Key>)
  case history([ReferenceTransaction])
  /// The file system has failed, after the new file had taken the place of the old one or before.
  case fileFault(isReplaced: Bool)
  /// An error of this code.
  case refused(PersistenceError.Code)
}

extension Outcome {
  /// Whether the outcome is as expected. Which of several conflicts an error names is left to the graph.
  func agrees(with expected: Outcome) -> Bool {
    if case .conflict(let keys) = self, case .conflict(let expectedKeys) = expected {
      return !keys.isEmpty && keys.isSubset(of: expectedKeys)
    }
    if case .found(let result, let query) = self, case .found(let all, _) = expected {
      return result.isPart(of: all, query)
    }
    return self == expected
  }
}
