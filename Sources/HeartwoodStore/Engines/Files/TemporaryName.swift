/// The names of what is another's until it is whole: `.todo.csv.3k9x1q.heartwood-tmp`.
package struct TemporaryName: Sendable {
  /// Of files that get the other name in the end.
  static let file = TemporaryName(suffix: ".heartwood-tmp")

  /// How many bytes of the other name are kept: systems take names of 255 bytes at most.
  private static let stemLimit = 200

  private let suffix: String

  package init(suffix: String) {
    self.suffix = suffix
  }

  package func make(for name: String) -> String {
    "\(Self.prefix(for: name))\(String(UInt64.random(in: .min ... .max), radix: 36))\(suffix)"
  }

  private static func prefix(for name: String) -> String {
    ".\(String(decoding: name.utf8.prefix(stemLimit), as: UTF8.self))."
  }

  /// Whether `candidate` is a name that was made for `name`.
  package func belongs(_ candidate: String, to name: String) -> Bool {
    let prefix = Self.prefix(for: name)
    guard candidate.hasPrefix(prefix), candidate.hasSuffix(suffix) else { return false }
    return !candidate.dropFirst(prefix.count).dropLast(suffix.count).contains(".")
  }
}
