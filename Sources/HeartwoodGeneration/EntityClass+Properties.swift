import HeartwoodModel

extension EntityClass {
  /// Whether the declarations use a type of Foundation.
  var usesFoundation: Bool {
    plainTypes.contains(where: \.isFoundationType)
      || ownAttributes.contains { UntypedAttribute.foundationNames.contains(Self.untypedName(of: $0) ?? "") }
  }

  /// The names of the types of the entity's own attributes, without types that the application declares.
  var attributeTypes: [String] { plainTypes.map(\.swiftName) }

  /// Whether the declarations use a type that the application declares.
  var usesOwnTypes: Bool { plainTypes.count < ownAttributes.count }

  private var ownAttributes: [AttributeDescription] { entity.definition.properties.compactMap(\.attribute) }

  /// The types of the attributes whose values do not have a type of the application.
  private var plainTypes: [AttributeType] {
    ownAttributes.filter { attribute in
      if let name = Self.untypedName(of: attribute) { return UntypedAttribute.isPlain(name) }
      return Self.ownType(of: attribute) == nil && Self.transformedType(of: attribute) == nil
    }.map(\.type)
  }

  /// Returns the values of an attribute without a type. The object keeps the value itself, since contexts cannot store
  /// it.
  func untypedAttribute(_ attribute: AttributeDescription) -> [String: TemplateValue] {
    ["type": .text((Self.untypedName(of: attribute) ?? "Any") + "?")]
      .merging(propertyNames(attribute.name)) { first, _ in first }
  }

  /// Returns the Swift type of an attribute without a type: the type in the user info or in the model, or `Any`.
  /// Returns nil if the attribute has a type.
  static func untypedName(of attribute: AttributeDescription) -> String? {
    guard attribute.type == .undefined else { return nil }
    return ownType(of: attribute) ?? UntypedAttribute.name(ofClass: attribute.attributeValueClassName)
  }

  func attribute(_ attribute: AttributeDescription) -> [String: TemplateValue] {
    let isScalar = options.scalarAttributes.contains("\(entity.name).\(attribute.name)")
    let transformed = Self.transformedType(of: attribute)
    let isOptional = transformed != nil || (attribute.isOptional && !isScalar)
    let name = transformed ?? Self.ownType(of: attribute) ?? attribute.type.swiftName
    let type = isOptional ? name + "?" : name
    let values: [String: TemplateValue] = [
      "type": .text(type),
      "keyType": .text(transformed.map { "TransformedKey<\($0)>" } ?? "AttributeKey<\(type)>"),
      "attributeType": .text(attribute.type.rawValue),
      "isOptional": .flag(isOptional),
      "isDerived": .flag(attribute.derivationExpression != nil),
    ]
    return values.merging(propertyNames(attribute.name)) { first, _ in first }
  }

  /// Returns the type to which the attribute's transformer converts bytes, if the user info contains it.
  static func transformedType(of attribute: AttributeDescription) -> String? {
    guard attribute.type == .transformable, attribute.valueTransformerName != nil,
      let type = attribute.userInfo[transformedTypeKey], !type.isEmpty
    else { return nil }
    return type
  }

  /// Returns the type of the application in the attribute's user info.
  static func ownType(of attribute: AttributeDescription) -> String? {
    typeKeys.lazy.compactMap { attribute.userInfo[$0] }.first { !$0.isEmpty }
  }

  func relationship(_ relationship: RelationshipDescription) -> [String: TemplateValue] {
    let values: [String: TemplateValue] = [
      "destination": .text(className(ofEntity: relationship.destinationEntityName)),
      "isOptional": .flag(relationship.isOptional),
      "isOrdered": .flag(relationship.isOrdered),
    ]
    return values.merging(propertyNames(relationship.name)) { first, _ in first }
  }

  func toMany(_ relationship: RelationshipDescription) -> [String: TemplateValue] {
    var values = self.relationship(relationship)
    let isOrdered = relationship.isOrdered
    // The methods have parameters or variables of these names.
    let isHidden = ["object", "objects"].contains(relationship.name)
    let name = (isHidden ? "self." : "") + accessor(relationship.name)
    values["collection"] = .text(isOrdered ? "RelatedList" : "RelatedSet")
    values["label"] = .text(isOrdered ? "list" : "set")
    values["capitalName"] = .text(SwiftText.capitalized(relationship.name))
    values["addition"] = .text(isOrdered ? "\(name).append(object)" : "\(name).insert(object)")
    values["removal"] = .text("\(name).remove(object)")
    return values
  }

  /// Returns the names of a property, in Swift and in the model.
  func propertyNames(_ name: String) -> [String: TemplateValue] {
    ["name": .text(accessor(name)), "baseName": .text(name), "propertyName": .text(name)]
  }

  /// Returns the name of the accessor: the name of the property, with underscores appended if every object has a member
  /// of that name.
  private func accessor(_ name: String) -> String {
    guard ReservedNames.properties.contains(name) else { return SwiftText.identifier(name) }
    var accessor = name + "_"
    while entity.ordinal(ofProperty: accessor) != nil { accessor += "_" }
    return accessor
  }
}

extension AttributeType {
  /// The Swift type of the attribute's values.
  var swiftName: String {
    switch self {
    case .integer16: "Int16"
    case .integer32: "Int32"
    case .integer64: "Int64"
    case .decimal: "Decimal"
    case .double: "Double"
    case .float: "Float"
    case .string: "String"
    case .boolean: "Bool"
    case .date: "Date"
    case .binary, .transformable: "Data"
    case .uuid: "UUID"
    case .uri: "URL"
    case .undefined: "Any"
    }
  }

  var isFoundationType: Bool {
    switch self {
    case .decimal, .date, .binary, .transformable, .uuid, .uri: true
    default: false
    }
  }
}

/// Swift types for the classes in which models declare attributes without a type.
private enum UntypedAttribute {
  private static let names = [
    "NSObject": "Any", "NSString": "String", "NSNumber": "NSNumber", "NSDecimalNumber": "Decimal", "NSDate": "Date",
    "NSData": "Data", "NSUUID": "UUID", "NSURL": "URL", "NSArray": "[Any]", "NSDictionary": "[AnyHashable: Any]",
    "NSSet": "Set<AnyHashable>",
  ]

  /// The types that Foundation declares.
  static let foundationNames: Set<String> = ["NSNumber", "Decimal", "Date", "Data", "UUID", "URL"]

  /// Returns whether the type is not one of the application.
  static func isPlain(_ name: String) -> Bool { names.values.contains(name) }

  static func name(ofClass className: String?) -> String {
    guard let className, !className.isEmpty else { return "Any" }
    if let name = names[className] { return name }
    let parts = className.split(separator: ".", omittingEmptySubsequences: false)
    let isName = parts.allSatisfy { part in
      !part.isEmpty && part.first?.isNumber == false && part.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }
    return isName ? className : "Any"
  }
}

// MARK: SwiftText

/// Functions that write Swift source.
package enum SwiftText {
  private static let keywords: Set<String> = [
    "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
    "internal",
    "let", "open", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static", "struct",
    "subscript",
    "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do", "else", "fallthrough", "for",
    "guard",
    "if", "in", "repeat", "return", "throw", "switch", "where", "while", "Any", "as", "await", "false", "is", "nil",
    "self",
    "Self", "super", "throws", "true", "try", "Type", "Protocol",
  ]

  /// Returns whether `name` is a keyword.
  package static func isReserved(_ name: String) -> Bool { keywords.contains(name) }

  /// Returns `name` as it is written in a declaration.
  static func identifier(_ name: String) -> String {
    keywords.contains(name) ? "`\(name)`" : name
  }

  /// Returns an identifier with the letters and digits of `text`, and underscores for all other characters.
  static func name(of text: String) -> String {
    let letters = text.map { $0.isLetter || $0.isNumber ? $0 : "_" }
    return String(letters.first?.isNumber ?? true ? ["_"] + letters : letters)
  }

  /// Returns `name` with a capital first letter.
  static func capitalized(_ name: String) -> String {
    name.prefix(1).uppercased() + name.dropFirst()
  }

  /// Returns `text` for a comment of one line, with spaces in place of line breaks and control characters.
  static func comment(_ text: String) -> String {
    let signs: Set<Unicode.GeneralCategory> = [.control, .lineSeparator, .paragraphSeparator]
    let scalars = text.unicodeScalars.map { signs.contains($0.properties.generalCategory) ? " " : $0 }
    return String(String.UnicodeScalarView(scalars))
  }

  /// Returns a string literal of `text`, in which no character is special.
  static func literal(_ text: String) -> String {
    var marks = "#"
    while text.contains("\"" + marks) || text.contains("\\" + marks) { marks += "#" }
    let escape = "\\" + marks
    var body = ""
    // Escapes scalars rather than characters, because a carriage return and a line feed form one character.
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": body += escape + "n"
      case "\r": body += escape + "r"
      case "\t": body += escape + "t"
      case "\0"..<" ", "\u{7F}", "\u{2028}", "\u{2029}": body += escape + "u{" + String(scalar.value, radix: 16) + "}"
      default: body.unicodeScalars.append(scalar)
      }
    }
    return "\(marks)\"\(body)\"\(marks)"
  }

  /// Returns a parameter name, `firstName`, for a constant name in capitals, `FIRST_NAME`.
  static func parameter(_ name: String) -> String {
    if name.first?.isNumber ?? true { return parameter("value" + name) }
    guard !name.contains(where: \.isLowercase) else { return identifier(name) }
    let words = name.lowercased().split(separator: "_")
    let rest = words.dropFirst().map { capitalized(String($0)) }
    return identifier((words.first.map(String.init) ?? "value") + rest.joined())
  }
}
