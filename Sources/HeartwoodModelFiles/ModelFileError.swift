@_spi(CoreDataFiles) import HeartwoodFormats
public import HeartwoodFoundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The error if a model file cannot be read or written.
///
///     do {
///       let model = try ManagedObjectModel(contentsOf: url)
///     } catch {
///       for problem in error.problems { print(problem.line ?? 0, problem.message) }
///     }
public struct ModelFileError: Error, Sendable, Hashable {
  /// A problem and its position.
  public struct Problem: Sendable, Hashable {
    /// The line, counted from 1; nil if it is not known.
    public let line: Int?
    /// The column, counted from 1; nil if it is not known.
    public let column: Int?
    /// What is wrong, and what to do.
    public let message: String
  }

  /// The path of the file or folder.
  public let file: String
  /// The problems, at least one. Either the first one made the rest of the file unreadable, or these are all faults of
  /// the model.
  public let problems: [Problem]

  init(file: String, problems: [Problem]) {
    self.file = file
    self.problems = problems
  }

  init(file: String, line: Int? = nil, column: Int? = nil, _ message: String) {
    self.init(file: file, problems: [Problem(line: line, column: column, message: message)])
  }

  init(file: String, _ error: ArchiveError, _ subject: String) {
    let place = error.offset.map { " (at byte \($0))" } ?? ""
    self.init(file: file, line: error.line, "\(subject) cannot be read. \(error.message)\(place)")
  }

  init(file: String, _ error: XMLSyntaxError) {
    self.init(file: file, line: error.line, column: error.column, "This is not well formed XML: \(error.message)")
  }
}

extension ModelFileError {
  /// The line of the first problem, counted from 1; nil if it is not known.
  public var line: Int? { problems.first?.line }
  /// The column of the first problem, counted from 1; nil if it is not known.
  public var column: Int? { problems.first?.column }
  /// The message of the first problem.
  public var message: String { problems.first?.message ?? "" }
}

extension ModelFileError: CustomStringConvertible {
  /// All problems, one per line, with file, line and column in the form that compilers use.
  public var description: String { text { $0 } }

  /// Returns the ``description``, with paths replaced by the results of `path`.
  public func text(path: (String) -> String) -> String {
    problems.map { problem in
      let place = [problem.line, problem.column].compactMap { $0.map(String.init) }
      return ([path(file)] + place).joined(separator: ":") + ": " + problem.message
    }.joined(separator: "\n")
  }
}

extension ModelFileError: LocalizedError {
  /// The ``description``.
  public var errorDescription: String? { description }
  /// The message of the first problem.
  public var failureReason: String? { message }
}

// MARK: SystemReason

/// The reason for which the system has refused a file operation, in words.
package enum SystemReason {
  /// Returns the system's message if there is one, since the error's own description lists everything that Foundation
  /// knows.
  static func text(of error: any Error) -> String {
    (error as? CocoaError).flatMap(words) ?? "\(error)"
  }

  /// Returns the system's message; nil if there is none.
  package static func words(of error: CocoaError) -> String? {
    guard let cause = error.userInfo["NSUnderlyingError"] as? POSIXError, let text = strerror(cause.code.rawValue)
    else { return nil }
    return String(cString: text)
  }
}
