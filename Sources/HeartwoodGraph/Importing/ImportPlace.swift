import HeartwoodStore

/// Where something stands in what is imported.
indirect enum ImportPlace {
  case root
  case element(ImportPlace, Int)
  case member(ImportPlace, String)

  /// In how many arrays and records it is.
  var depth: Int {
    var (depth, place) = (0, self)
    while let outer = place.outer { (depth, place) = (depth + 1, outer) }
    return depth
  }

  private var outer: ImportPlace? {
    switch self {
    case .root: nil
    case .element(let outer, _), .member(let outer, _): outer
    }
  }
}

extension ImportPlace: CustomStringConvertible {
  /// The path, such as `[3].owner.id`; empty for the root.
  var description: String {
    var (parts, place): ([String], ImportPlace) = ([], self)
    while let outer = place.outer {
      switch place {
      case .root: break
      case .element(_, let index): parts.append("[\(index)]")
      case .member(.root, let key): parts.append(key)
      case .member(_, let key): parts.append(".\(key)")
      }
      place = outer
    }
    return parts.reversed().joined()
  }
}

extension ImportFault {
  static func tooDeep(_ place: ImportPlace) -> ImportFault {
    ImportFault(
      path: place.description,
      "Arrays and records are in each other more than \(ImportValue.greatestDepth) deep here."
    )
  }
}
