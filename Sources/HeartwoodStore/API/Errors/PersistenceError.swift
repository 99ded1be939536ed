public import HeartwoodFoundation

/// An error of a store, a context or a migration: what happened, where, and what to do.
///
/// Match the ``code`` in a `catch`, and read the rest from the properties. Codes and properties are stable; texts are
/// for people and may change.
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
/// The error has the size of a reference, so functions that throw it are as fast as others.
/// ``text(recovery:path:cause:)`` returns its text with an application's own names of options and files.
///
/// A function declares `throws(PersistenceError)` if it throws no other error. It declares `throws` if it may throw
/// others: errors of your code in a closure, a hook, a policy or a store of your own, a `FetchPredicateError` for a
/// condition that does not fit the model, or a `CancellationError`. A function that only calls your closure throws the
/// error type of the closure.
///
/// Throw it in a store of your own, too. Say what happened in ``problem`` and what to do in ``recovery``, and put files
/// into the ``context``:
///
///     throw PersistenceError(
///       .fileReadFailed,
///       "The server does not answer.",
///       recovery: .tryAgain,
///       context: .init(path: path)
///     )
public struct PersistenceError: Error, Sendable {
  private var storage: Storage

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: the kind of failure, which callers match.
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

  /// Immutable: changing an error gives it a new storage, so copies are not affected.
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

  /// The kind of failure, which callers match.
  public var code: Code {
    get { storage.fields.code }
    set { fields.code = newValue }
  }

  /// What happened, in whole sentences for people. It contains no paths, no values of records, and no advice.
  public var problem: String {
    get { storage.fields.problem }
    set { fields.problem = newValue }
  }

  /// What to do about the error; nil if there is no advice, or if the problem says it all.
  public var recovery: Recovery? {
    get { storage.fields.recovery }
    set { fields.recovery = newValue }
  }

  /// Where the failure happened, as far as that is known.
  public var context: Context {
    get { storage.fields.context }
    set { fields.context = newValue }
  }

  /// The error that caused this one.
  public var underlyingError: (any Error)? {
    get { storage.fields.underlyingError }
    set { fields.underlyingError = newValue }
  }

  /// The ``problem`` and the text of the ``recovery``, without the place of the failure.
  public var message: String { Self.joined(problem, recovery?.text) }
}

// MARK: Passing on

extension PersistenceError {
  /// Returns the error with `path` and `storeType` for the file and the type of store, if it has none: what a store adds
  /// to the errors of its parts.
  public func locating(path: String?, storeType: StoreType? = nil) -> PersistenceError {
    var error = self
    error.context.path = context.path ?? path
    error.context.storeType = context.storeType ?? storeType
    return error
  }

  /// Returns the error with another problem, and with `recovery` in place of its own, if it is not nil.
  package func explaining(_ problem: String, recovery: Recovery? = nil) -> PersistenceError {
    var error = self
    error.problem = problem
    error.recovery = recovery ?? error.recovery
    return error
  }

  /// Returns the error with `path` for the file, if its path is `temporary`, a file that is to become that file.
  func relocating(from temporary: String, to path: String) -> PersistenceError {
    var error = self
    if context.path == temporary { error.context.path = path }
    return error
  }
}

// MARK: Wrapping

extension PersistenceError {
  /// Returns `error` itself if it is a persistence error, or else an error whose cause it is.
  package static func of(
    _ error: any Error,
    _ code: Code,
    _ problem: @autoclosure () -> String,
    recovery: @autoclosure () -> Recovery? = nil,
    context: @autoclosure () -> Context = Context()
  ) -> PersistenceError {
    error as? PersistenceError
      ?? PersistenceError(code, problem(), recovery: recovery(), context: context(), underlyingError: error)
  }
}

// MARK: Text

extension PersistenceError {
  /// Returns the text of the error, with the caller's own words for advice and for files.
  ///
  /// For example, a command-line tool has options of its own, and shows paths as its user has written them:
  ///
  ///     error.text(
  ///       recovery: { $0.kind == .replaceFile ? "Choose another name, or replace it with --force." : nil },
  ///       path: { $0 == url.path ? argument : $0 }
  ///     )
  ///
  /// - Parameters:
  ///   - recovery: returns the text that replaces ``Recovery/text``; nil for that text, or an empty string for none.
  ///   - path: returns the name of the file at a path.
  ///   - cause: returns the text of an underlying error that is not a persistence error; its description by default.
  public func text(
    recovery: (Recovery) -> String? = { _ in nil },
    path: (String) -> String = { $0 },
    cause: (any Error) -> String = { "\($0)" }
  ) -> String {
    let advice = self.recovery.map { recovery($0) ?? $0.text }
    var text = context.place(path) + Self.joined(problem, advice)
    let details = context.details(path)
    if !details.isEmpty { text += " (\(details.joined(separator: ", ")))" }
    text += context.list(path)
    if let underlyingError {
      let ours = underlyingError as? PersistenceError
      text += " [\(ours?.text(recovery: recovery, path: path, cause: cause) ?? cause(underlyingError))]"
    }
    return text
  }

  /// Joins two texts: on the same line if the first has only one line.
  static func joined(_ text: String, _ other: String?) -> String {
    guard let other, !other.isEmpty else { return text }
    return text.isEmpty ? other : text + (text.contains("\n") ? "\n" : " ") + other
  }
}

extension PersistenceError: CustomStringConvertible {
  /// One line: `path:line:column: problem recovery (entity.property, at byte 7)`. Some errors list what they found in
  /// lines of their own.
  public var description: String { text() }
}

extension PersistenceError: LocalizedError {
  /// The place and the problem, without advice: `path:line:column: problem`.
  public var errorDescription: String? { context.place { $0 } + problem }

  /// The ``problem``.
  public var failureReason: String? { problem }

  /// The text of the ``recovery``.
  public var recoverySuggestion: String? { recovery?.text }
}

extension PersistenceError.Context {
  /// The file, line and column, as compilers write them; empty if they are unknown.
  fileprivate func place(_ name: (String) -> String) -> String {
    var parts = path.map { [name($0)] } ?? []
    if let line { parts.append(path == nil ? "line \(line)" : "\(line)") }
    if let column, line != nil { parts.append("\(column)") }
    return parts.isEmpty ? "" : parts.joined(separator: ":") + ": "
  }

  fileprivate func details(_ name: (String) -> String) -> [String] {
    var details: [String] = []
    switch (entity, property) {
    case (let entity?, let property?): details.append("\(entity).\(property)")
    case (let entity?, nil): details.append("entity \(entity)")
    case (nil, let property?): details.append("property \(property)")
    case (nil, nil): break
    }
    if let byteOffset { details.append("at byte \(byteOffset)") }
    if relatedPaths.count == 1 { details += relatedPaths.map { $0.text(name) } }
    return details
  }

  /// The other files, one per line, if there are several.
  fileprivate func list(_ name: (String) -> String) -> String {
    guard relatedPaths.count > 1 else { return "" }
    return relatedPaths.map { "\n  " + $0.text(name) }.joined()
  }
}

extension PersistenceError.RelatedPath {
  fileprivate func text(_ name: (String) -> String) -> String { role.isEmpty ? name(path) : "\(role) \(name(path))" }
}
