import HeartwoodModelFiles
import HeartwoodModel
import HeartwoodStore

extension ParserTrial {
  /// Whether the error is one of those that the parsers promise, with a reason in it.
  package static func isExplained(_ error: any Error) -> Bool {
    switch error {
    case let error as HeartwoodStore.PersistenceError: !error.message.isEmpty
    case let error as ModelFileError: !error.problems.isEmpty && error.problems.allSatisfy { !$0.message.isEmpty }
    case let error as FetchPredicateError: !error.message.isEmpty
    case let error as ModelValidationError: !error.faults.isEmpty
    default: false
    }
  }

  /// Does what may be refused with a reason, and go on then.
  ///
  /// - Returns: whether it was done.
  /// - Throws: an error without a reason.
  static func attempt(_ body: () throws -> Void) throws -> Bool {
    do {
      try body()
      return true
    } catch  where isExplained(error) {
      return false
    }
  }
}
