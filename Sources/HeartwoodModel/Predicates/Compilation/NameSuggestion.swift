/// Finds the name that somebody may have meant.
package enum NameSuggestion {
  private static let longest = 100
  private static let mostShown = 20

  /// What to say to who has written `name`, which is none of `names`.
  ///
  /// - Parameter beginning: how the sentence begins that lists them, where none is close.
  package static func advice(
    for name: String,
    among names: [String],
    listing beginning: String = "It has"
  ) -> String {
    if names.isEmpty { return "It has none." }
    if let suggestion = closest(to: name, among: names) { return "Did you mean \(suggestion)?" }
    return
      "\(beginning) \(names.prefix(mostShown).joined(separator: ", "))\(names.count > mostShown ? " and others" : "")."
  }

  /// The name of `names` that is closest to `name`, where one is close enough to be a slip of the hand.
  package static func closest(to name: String, among names: [String]) -> String? {
    let target = Array(name.lowercased())
    guard target.count <= longest else { return nil }
    let limit = max(1, (target.count + 1) / 3)
    let distances = names.lazy.filter { $0.utf8.count <= longest }.map {
      (name: $0, distance: distance(target, Array($0.lowercased())))
    }
    guard let best = distances.min(by: { $0.distance < $1.distance }), best.distance <= limit else { return nil }
    return best.name
  }

  /// How many characters have to be put in, left out or replaced to make `left` of `right`.
  private static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var previous = Array(0...right.count)
    for (row, character) in left.enumerated() {
      var current = [row + 1]
      for (column, other) in right.enumerated() {
        let replaced = previous[column] + (character == other ? 0 : 1)
        current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
      }
      previous = current
    }
    return previous[right.count]
  }
}
