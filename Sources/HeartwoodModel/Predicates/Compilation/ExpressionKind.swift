/// The kind of value of an expression.
indirect enum ExpressionKind: Equatable {
  /// The constant `nil`, which fits every kind.
  case null
  /// Unknown until the expression is evaluated.
  case any
  case number, boolean, string, date, binary, uuid, uri
  /// An object of the entity with this ordinal, or of a subentity.
  case object(Int)
  case collection(ExpressionKind)
}

extension ExpressionKind {
  init(_ type: AttributeType) {
    switch type {
    case .integer16, .integer32, .integer64, .decimal, .double, .float: self = .number
    case .boolean: self = .boolean
    case .string: self = .string
    case .date: self = .date
    case .binary, .transformable: self = .binary
    case .uuid: self = .uuid
    case .uri: self = .uri
    case .undefined: self = .any
    }
  }

  init(_ value: PropertyValue) {
    switch value {
    case .null: self = .null
    case .integer, .decimal, .double, .float: self = .number
    case .boolean: self = .boolean
    case .string: self = .string
    case .date: self = .date
    case .binary: self = .binary
    case .uuid: self = .uuid
    case .uri: self = .uri
    case .toOne(let id): self = .object(id.entity.ordinal)
    case .toMany: self = .collection(.any)
    }
  }

  init(_ value: EvaluatedValue) {
    switch value {
    case .one(let value): self.init(value)
    case .many(let elements): self = .collection(elements.reduce(.null) { $0.united(with: ExpressionKind($1)) })
    }
  }

  init(_ type: FetchExpression.CastType) {
    self.init(type.attributeType)
  }

  /// The kind in words, for messages.
  var title: String {
    switch self {
    case .null: "nil"
    case .any: "a value"
    case .number: "a number"
    case .boolean: "a boolean"
    case .string: "a string"
    case .date: "a date"
    case .binary: "binary data"
    case .uuid: "a UUID"
    case .uri: "a URL"
    case .object: "an object"
    case .collection: "a collection"
    }
  }
}

extension ExpressionKind {
  /// The kind of the elements; nil if this is not a collection.
  var element: ExpressionKind? {
    if case .collection(let element) = self { element } else { nil }
  }

  var isNumeric: Bool { self == .number || self == .boolean || self == .null || self == .any }

  var isString: Bool { self == .string || self == .null || self == .any }

  /// Whether values of the kind have an order.
  var isOrdered: Bool { isNumeric || isString || self == .date || self == .uuid }

  /// Returns whether values of both kinds can be equal.
  func goesWith(_ other: ExpressionKind) -> Bool {
    switch (self, other) {
    case (.null, _), (_, .null), (.any, _), (_, .any): true
    case (.object, .object): true
    case (.number, .boolean), (.boolean, .number): true
    default: self == other
    }
  }

  /// Returns the kind of the elements of a collection that contains both kinds.
  func united(with other: ExpressionKind) -> ExpressionKind {
    if self == other || other == .null { return self }
    return self == .null ? other : .any
  }
}
