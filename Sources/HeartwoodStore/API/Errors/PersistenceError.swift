/// Why something was not saved, read, opened or found: what happened, where, and what to do.
///
/// Match the ``code`` in a `catch`, and take the rest from the fields. Codes and fields are stable; texts are for people and may change.
///
///     do {
///       try context.save()
///     } catch PersistenceError.Code.fileChangedOnDisk {
///       reload()
///     } catch let error as PersistenceError {
///       log.error("\(error)")                      // shop.csv:7:3: “seven” is no integer. Correct it. (Item.price)
///       alert.title = error.problem                // “seven” is no integer.
///       alert.text = error.recovery?.text ?? ""    // Correct it.
///       alert.file = error.context.path            // shop.csv
///     }
///
/// It is as small as a reference, so that functions that throw it are as fast as others. ``text(recovery:path:cause:)`` puts it into words with
/// an application's own names of options and files.
///
/// A store of your own throws it, too. Say what happened in ``problem`` and what to do in ``recovery``, and put files into the ``context``:
///
///     throw PersistenceError(
///       .fileReadFailed,
///       "The server does not answer.",
///       recovery: .tryAgain,
///       context: .init(path: path)
///     )
public struct PersistenceError: Error, Sendable {
  private var storage: Storage

  /// Makes an error of a code.
  ///
  /// - Parameters:
  ///   - problem: what happened, in whole sentences, without paths, values of records and advice.
  ///   - recovery: what to do about it.
  ///   - context: where it happened.
  ///   - underlyingError: the error that caused it.
  public init(
    _ code: Code,
    _ problem: String,
    recovery: Recovery? = nil,
    context: Context = Context(),
    underlyingError: (any Error)? = nil
  ) {
    storage = Storage(
      Fields(code: code, problem: problem, recovery: recovery, context: context, underlyingError: underlyingError)
    )
  }
}

// MARK: Fields

extension PersistenceError {
  private struct Fields: Sendable {
    var code: Code
    var problem: String
    var recovery: Recovery?
    var context: Context
    var underlyingError: (any Error)?
  }

  /// Never changed: an error that is changed gets another one, so copies do not see it.
  private final class Storage: Sendable {
    let fields: Fields

    init(_ fields: Fields) {
      self.fields = fields
    }
  }

  private var fields: Fields {
    get { storage.fields }
    set { storage = Storage(newValue) }
  }

  /// What kind of failure it is.
  public var code: Code {
    get { storage.fields.code }
    set { fields.code = newValue }
  }

  /// What happened, in whole sentences for a person. It holds no paths, no values of records, and nothing of what to do.
  public var problem: String {
    get { storage.fields.problem }
    set { fields.problem = newValue }
  }

  /// What to do about it; nil if nothing can be advised, or the problem says all.
  public var recovery: Recovery? {
    get { storage.fields.recovery }
    set { fields.recovery = newValue }
  }

  /// Where it happened, as far as that is known.
  public var context: Context {
    get { storage.fields.context }
    set { fields.context = newValue }
  }

  /// The error that caused this one.
  public var underlyingError: (any Error)? {
    get { storage.fields.underlyingError }
    set { fields.underlyingError = newValue }
  }

  /// The ``problem`` and the text of the ``recovery``, without where it happened.
  public var message: String { Self.joined(problem, recovery?.text) }
}

// MARK: Passing on

extension PersistenceError {
  /// The error, with `path` and `storeType` for the file and the type of store if it names none.
  package func locating(path: String?, storeType: StoreType? = nil) -> PersistenceError {
    var error = self
    error.context.path = context.path ?? path
    error.context.storeType = context.storeType ?? storeType
    return error
  }

  /// The error, with another text for what happened, and `recovery` in place of its own if there is one.
  package func explaining(_ problem: String, recovery: Recovery? = nil) -> PersistenceError {
    var error = self
    error.problem = problem
    error.recovery = recovery ?? error.recovery
    return error
  }

  /// The same error, with `path` for the file if it names `temporary`, which is to become that file.
  func relocating(from temporary: String, to path: String) -> PersistenceError {
    var error = self
    if context.path == temporary { error.context.path = path }
    return error
  }
}
