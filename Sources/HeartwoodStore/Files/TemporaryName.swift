/// The names of the files that become others when they are whole: `.todo.csv.3k9x1q.heartwood-tmp`.
enum TemporaryName {
  private static let suffix = ".heartwood-tmp"

  static func make(for name: String) -> String {
    ".\(name).\(String(UInt64.random(in: .min ... .max), radix: 36))\(suffix)"
  }

  /// Whether `candidate` is the name of a temporary file for `name`.
  static func belongs(_ candidate: String, to name: String) -> Bool {
    let prefix = ".\(name)."
    guard candidate.hasPrefix(prefix), candidate.hasSuffix(suffix) else { return false }
    return !candidate.dropFirst(prefix.count).dropLast(suffix.count).contains(".")
  }
}
