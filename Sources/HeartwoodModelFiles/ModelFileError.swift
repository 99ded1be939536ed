import HeartwoodFormats
public import HeartwoodFoundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Why a model file could not be read.
public struct ModelFileError: Error, Sendable, Hashable {
  /// One thing that is wrong, and where.
  public struct Problem: Sendable, Hashable {
    /// The line, from 1, where it is known.
    public let line: Int?
    /// The column, from 1, where it is known.
    public let column: Int?
    /// What is wrong and what to do.
    public let message: String
  }

  /// The path of the file or folder.
  public let file: String
  /// At least one problem: the first that keeps the file from being understood, or every fault of the model in it.
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
  /// The line of the first problem, from 1, where it is known.
  public var line: Int? { problems.first?.line }
  /// The column of the first problem, from 1, where it is known.
  public var column: Int? { problems.first?.column }
  /// What the first problem is and what to do.
  public var message: String { problems.first?.message ?? "" }
}

extension ModelFileError: CustomStringConvertible {
  /// All problems, one a line, each with file, line and column in the form that compilers use.
  public var description: String { text { $0 } }

  /// The ``description``, with what a caller calls the file at a path.
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
  /// What the first problem is and what to do.
  public var failureReason: String? { message }
}

// MARK: SystemReason

/// Why the system has not done something with a file, in words for people.
package enum SystemReason {
  /// The system's own words where it has some: the error lists all that Foundation knows.
  static func text(of error: any Error) -> String {
    (error as? CocoaError).flatMap(words) ?? "\(error)"
  }

  /// The system's own words; nil where it has none.
  package static func words(of error: CocoaError) -> String? {
    guard let cause = error.userInfo["NSUnderlyingError"] as? POSIXError, let text = strerror(cause.code.rawValue)
    else { return nil }
    return String(cString: text)
  }
}
