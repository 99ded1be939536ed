/// The right side of `LIKE` or `MATCHES`, made ready to match many strings.
package enum PlanPattern: Sendable {
  case wildcards(WildcardPattern)
  case expression(TextPattern, TextFolding)

  /// The pattern `text`; nil where it is no regular expression.
  package init?(_ text: String, _ comparator: FetchComparison.Comparator, folding: TextFolding) {
    if comparator == .like {
      self = .wildcards(WildcardPattern(text, folding: folding))
      return
    }
    let marks = TextFolding(ignoresCase: false, ignoresMarks: folding.ignoresMarks)
    let plain = String(decoding: marks.folded(text), as: UTF8.self)
    // try?: nil says that it is no pattern, which matches nothing.
    guard let pattern = try? TextPattern(plain, ignoresCase: folding.ignoresCase) else { return nil }
    self = .expression(pattern, marks)
  }

  package func matches(_ text: String) -> Bool {
    switch self {
    case .wildcards(let pattern): return pattern.matches(text)
    case .expression(let pattern, let folding):
      return pattern.matches(folding.isNone ? text : String(decoding: folding.folded(text), as: UTF8.self))
    }
  }
}
