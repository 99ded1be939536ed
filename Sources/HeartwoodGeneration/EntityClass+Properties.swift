import HeartwoodModel

extension EntityClass {
  /// Whether a type of Foundation's is in the declarations.
  var usesFoundation: Bool {
    plainTypes.contains(where: \.isFoundationType)
      || ownAttributes.contains { UntypedAttribute.foundationNames.contains(Self.untypedName(of: $0) ?? "") }
  }

  /// The types of the entity's own attributes, but for those of the application's.
  var attributeTypes: [String] { plainTypes.map(\.swiftName) }

  /// Whether a type of the application's is in the declarations.
  var usesOwnTypes: Bool { plainTypes.count < ownAttributes.count }

  private var ownAttributes: [AttributeDescription] { entity.definition.properties.compactMap(\.attribute) }

  /// The types of those whose values are of no type of the application's.
  private var plainTypes: [AttributeType] {
    ownAttributes.filter { attribute in
      if let name = Self.untypedName(of: attribute) { return UntypedAttribute.isPlain(name) }
      return Self.ownType(of: attribute) == nil && Self.transformedType(of: attribute) == nil
    }.map(\.type)
  }

  /// An attribute without a type: the object keeps its value itself, since no context knows what it is.
  func untypedAttribute(_ attribute: AttributeDescription) -> [String: TemplateValue] {
    ["type": .text((Self.untypedName(of: attribute) ?? "Any") + "?")]
      .merging(propertyNames(attribute.name)) { first, _ in first }
  }

  /// The Swift type of what an attribute without a type holds: the one that the user info or the model names, or anything. nil for an
  /// attribute with a type.
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

  /// The type that the attribute's transformer makes of bytes, where the user info names it.
  static func transformedType(of attribute: AttributeDescription) -> String? {
    guard attribute.type == .transformable, attribute.valueTransformerName != nil,
      let type = attribute.userInfo[transformedTypeKey], !type.isEmpty
    else { return nil }
    return type
  }

  /// The type that the user info gives an attribute.
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
    // The methods call what they are given so.
    let isHidden = ["object", "objects"].contains(relationship.name)
    let name = (isHidden ? "self." : "") + accessor(relationship.name)
    values["collection"] = .text(isOrdered ? "RelatedList" : "RelatedSet")
    values["label"] = .text(isOrdered ? "list" : "set")
    values["capitalName"] = .text(SwiftText.capitalized(relationship.name))
    values["addition"] = .text(isOrdered ? "\(name).append(object)" : "\(name).insert(object)")
    values["removal"] = .text("\(name).remove(object)")
    return values
  }

  /// What a property is called, in Swift and in the model.
  func propertyNames(_ name: String) -> [String: TemplateValue] {
    ["name": .text(accessor(name)), "baseName": .text(name), "propertyName": .text(name)]
  }

  /// The name of the accessor: that of the property, with underscores behind it where every object has a member so called.
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

/// What Swift calls the classes that models name for the values of attributes without a type.
private enum UntypedAttribute {
  private static let names = [
    "NSObject": "Any", "NSString": "String", "NSNumber": "NSNumber", "NSDecimalNumber": "Decimal", "NSDate": "Date",
    "NSData": "Data", "NSUUID": "UUID", "NSURL": "URL", "NSArray": "[Any]", "NSDictionary": "[AnyHashable: Any]",
    "NSSet": "Set<AnyHashable>",
  ]

  /// Those of Foundation.
  static let foundationNames: Set<String> = ["NSNumber", "Decimal", "Date", "Data", "UUID", "URL"]

  /// Whether the type is none of the application's.
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

/// Pieces of Swift source.
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

  /// Whether `name` is a word of the language.
  package static func isReserved(_ name: String) -> Bool { keywords.contains(name) }

  /// `name` as a declaration has it.
  static func identifier(_ name: String) -> String {
    keywords.contains(name) ? "`\(name)`" : name
  }

  /// A name with the letters and digits of any text, and underscores for the rest.
  static func name(of text: String) -> String {
    let letters = text.map { $0.isLetter || $0.isNumber ? $0 : "_" }
    return String(letters.first?.isNumber ?? true ? ["_"] + letters : letters)
  }

  /// `name` with a capital.
  static func capitalized(_ name: String) -> String {
    name.prefix(1).uppercased() + name.dropFirst()
  }

  /// `text` as a comment of one line has it, with a blank in place of each sign that would end the line or that no source may have.
  static func comment(_ text: String) -> String {
    let signs: Set<Unicode.GeneralCategory> = [.control, .lineSeparator, .paragraphSeparator]
    let scalars = text.unicodeScalars.map { signs.contains($0.properties.generalCategory) ? " " : $0 }
    return String(String.UnicodeScalarView(scalars))
  }

  /// A literal of `text`, in which nothing means anything else.
  static func literal(_ text: String) -> String {
    var marks = "#"
    while text.contains("\"" + marks) || text.contains("\\" + marks) { marks += "#" }
    let escape = "\\" + marks
    var body = ""
    // Not by characters: a carriage return and a line feed are one.
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

  /// A name of constants in capitals, `FIRST_NAME`, as one of a parameter: `firstName`.
  static func parameter(_ name: String) -> String {
    if name.first?.isNumber ?? true { return parameter("value" + name) }
    guard !name.contains(where: \.isLowercase) else { return identifier(name) }
    let words = name.lowercased().split(separator: "_")
    let rest = words.dropFirst().map { capitalized(String($0)) }
    return identifier((words.first.map(String.init) ?? "value") + rest.joined())
  }
}
