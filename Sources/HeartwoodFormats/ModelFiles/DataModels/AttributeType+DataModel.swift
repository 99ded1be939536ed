import HeartwoodModel

extension AttributeType {
  /// What model files call the type.
  var dataModelName: String {
    switch self {
    case .integer16: "Integer 16"
    case .integer32: "Integer 32"
    case .integer64: "Integer 64"
    case .decimal: "Decimal"
    case .double: "Double"
    case .float: "Float"
    case .string: "String"
    case .boolean: "Boolean"
    case .date: "Date"
    case .binary: "Binary"
    case .uuid: "UUID"
    case .uri: "URI"
    case .transformable: "Transformable"
    case .undefined: "Undefined"
    }
  }

  /// The type that model files call `name`.
  init?(dataModelName name: String) {
    guard let type = (Self.allCases + [.undefined]).first(where: { $0.dataModelName == name }) else { return nil }
    self = type
  }

  /// What model files call the type that archives call `code`: nothing for an attribute without a type, and words for a code that is not
  /// known.
  static func dataModelName(coreDataCode code: Int) -> String? {
    guard let type = AttributeType(coreDataCode: code) else { return "type \(code)" }
    return type == .undefined ? nil : type.dataModelName
  }

  /// The type that archives of models call `code`.
  init?(coreDataCode code: Int) {
    guard let type = (Self.allCases + [.undefined]).first(where: { Int($0.coreDataCode) == code }) else { return nil }
    self = type
  }
}
