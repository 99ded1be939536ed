import HeartwoodModel

/// Reads the archives of value expressions.
enum ArchivedMappingExpression {
  private static let deepestNesting = 32

  /// Nil where the archive holds something that no expression here says.
  static func expression(_ node: ArchiveNode) -> MappingExpression? { expression(node, depth: 0) }

  private static func expression(_ node: ArchiveNode, depth: Int) -> MappingExpression? {
    guard depth < deepestNesting else { return nil }
    switch node.className {
    case "NSVariableExpression": return node["NSVariable"]?.string.map(MappingExpression.variable)
    case "NSKeyPathExpression": return keyPath(node, depth: depth)
    case "NSFunctionExpression": return function(node, depth: depth)
    default: return computed(node)
    }
  }

  private static func keyPath(_ node: ArchiveNode, depth: Int) -> MappingExpression? {
    guard let base = node["NSOperand"].flatMap({ expression($0, depth: depth + 1) }),
      let path = node["NSArguments"]?.items.first?["NSKeyPath"]?.string
    else { return nil }
    if case .keyPath(let inner, let first) = base { return .keyPath(of: inner, "\(first).\(path)") }
    return .keyPath(of: base, path)
  }

  /// A message to an object that the migration knows; any other function is computed.
  private static func function(_ node: ArchiveNode, depth: Int) -> MappingExpression? {
    guard let target = node["NSOperand"], target.className == "NSVariableExpression",
      let name = node["NSSelectorName"]?.string
    else { return computed(node) }
    let items = node["NSArguments"]?.items ?? []
    let arguments = items.compactMap { expression($0, depth: depth + 1) }
    guard arguments.count == items.count, let operand = expression(target, depth: depth + 1) else { return nil }
    return .function(on: operand, name: name, arguments)
  }

  private static func computed(_ node: ArchiveNode) -> MappingExpression? {
    ArchivedPredicate.expression(node).map { expression in
      if case .constant(let value) = expression { .constant(value) } else { .computed(expression) }
    }
  }
}
