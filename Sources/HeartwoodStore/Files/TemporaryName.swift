/// The names of the files that become others when they are whole: `.todo.csv.3k9x1q.heartwood-tmp`.
enum TemporaryName {
  private static let suffix = ".heartwood-tmp"
  /// How many bytes of the other name are kept: systems take names of 255 bytes at most.
  private static let stemLimit = 200

  static func make(for name: String) -> String {
    "\(prefix(for: name))\(String(UInt64.random(in: .min ... .max), radix: 36))\(suffix)"
  }

  private static func prefix(for name: String) -> String {
    ".\(String(decoding: name.utf8.prefix(stemLimit), as: UTF8.self))."
  }

  /// Whether `candidate` is the name of a temporary file for `name`.
  static func belongs(_ candidate: String, to name: String) -> Bool {
    let prefix = prefix(for: name)
    guard candidate.hasPrefix(prefix), candidate.hasSuffix(suffix) else { return false }
    return !candidate.dropFirst(prefix.count).dropLast(suffix.count).contains(".")
  }
}
