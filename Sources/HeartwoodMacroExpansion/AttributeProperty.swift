import SwiftSyntax

/// A property with `@Attribute`, and the text of its key, its accessors and its description.
struct AttributeProperty {
  let variable: PersistedVariable
  /// The type without its question mark, or the type itself if it is not optional.
  private let wrappedType: String
  private let isOptional: Bool

  /// - Throws: ``MacroFault`` if the property cannot be an attribute.
  init(_ variable: PersistedVariable) throws(MacroFault) {
    self.variable = variable
    let written = OptionalType(variable.type)
    wrappedType = written.wrapped.trimmedDescription
    isOptional = written.isOptional
    if let fault = written.faultOfUnwrapping(variable) { throw fault }
    try checkTransformer()
    try checkInitialValue()
  }

  private var arguments: MacroArguments { variable.arguments }

  private var isDerived: Bool { arguments["derivedFrom"] != nil }

  private var isTransformed: Bool { arguments["transformer"] != nil }

  private func checkTransformer() throws(MacroFault) {
    guard isTransformed, !isOptional else { return }
    throw MacroFault(
      "transformerOfValue",
      "A transformer may return nil, so the property's type must be optional.",
      at: variable.writtenType,
      mends: [variable.makingTypeOptional]
    )
  }

  private func checkInitialValue() throws(MacroFault) {
    guard let value = variable.initialValue else { return }
    if isDerived {
      throw variable.faultOfInitialValue(
        "derivedDefault",
        "The value is computed, so the property cannot have an initial one."
      )
    }
    if isTransformed {
      throw variable.faultOfInitialValue(
        "transformedDefault",
        "A transformer may be registered later than the model is made. Set the initial value in awakeFromInsert()."
      )
    }
    if value.differsEachTime(as: wrappedType) {
      throw variable.faultOfInitialValue(
        "changingDefault",
        "The initial value is in the model, the same for all objects. Set one of each object's own in awakeFromInsert()."
      )
    }
  }
}

extension AttributeProperty: PersistedProperty {
  var keyType: String {
    isTransformed ? "TransformedKey<\(wrappedType)>" : "AttributeKey<\(variable.type.trimmedDescription)>"
  }

  func getter(key: String) -> String { "self[\(key)]" }

  func setter(key: String) -> String? { isDerived ? nil : "self[\(key)] = newValue" }

  var description: String {
    var call = CallText(variable.keyName)
    if let type = arguments["type"] { call = CallText("\(variable.keyName), \(type.trimmedDescription)") }
    call.add("transformer", arguments.text("transformer"))
    if arguments.has("optional") { call.add("optional", "true") }
    if arguments.has("required") { call.add("optional", "false") }
    call.add("transient", if: arguments.has("transient"))
    call.add("default", variable.initialValue?.typed(variable.type.trimmedDescription))
    call.add("rules", rules)
    call.add("derivedFrom", arguments.text("derivedFrom").map { "try FetchExpression(format: \($0))" })
    call.add("externalStorage", if: arguments.has("externalStorage"))
    call.add("preservedOnDeletion", if: arguments.has("preservedOnDeletion"))
    variable.addCommonArguments(to: &call)
    return call.call(".attribute")
  }

  private var rules: String? {
    var rules = CallText()
    for label in ["minValue", "maxValue"] {
      rules.add(label, arguments[label].map { "(\($0.typed(wrappedType))).propertyValue" })
    }
    for label in ["minLength", "maxLength", "pattern", "predicates"] { rules.add(label, arguments.text(label)) }
    let text = rules.call("AttributeRules")
    return text == CallText().call("AttributeRules") ? nil : text
  }

  /// Whether no two objects may have the same value.
  var isUnique: Bool { arguments.has("unique") }

  /// Whether stores index the values.
  var isIndexed: Bool { arguments.has("indexed") }
}

extension ExprSyntax {
  private static let changingTypes = ["UUID", "Date", "Foundation.UUID", "Foundation.Date"]

  /// Whether the expression, of type `type`, has another value at each evaluation: `UUID()`, `Date()`, `Date.now`,
  /// `.init()`, and expressions made of these with members and operators.
  fileprivate func differsEachTime(as type: String) -> Bool {
    if let call = self.as(FunctionCallExprSyntax.self) {
      return call.isChangingInitializer(as: type) || call.calledExpression.differsEachTime(as: type)
    }
    if let member = self.as(MemberAccessExprSyntax.self) {
      return member.isPresentDate || member.base?.differsEachTime(as: type) == true
    }
    return operands.contains { $0.differsEachTime(as: type) }
  }

  /// The operands of an operator, or the contents of parentheses; empty for other expressions.
  private var operands: [ExprSyntax] {
    if let sequence = self.as(SequenceExprSyntax.self) { return Array(sequence.elements) }
    if let infix = self.as(InfixOperatorExprSyntax.self) { return [infix.leftOperand, infix.rightOperand] }
    return self.as(TupleExprSyntax.self)?.elements.map(\.expression) ?? []
  }

  fileprivate static func isChanging(_ type: String) -> Bool { changingTypes.contains(type) }
}

extension FunctionCallExprSyntax {
  /// Whether the call makes a new identifier or the current date: `UUID()`, `Date.init()`, or `.init()` of type `UUID`
  /// or `Date`.
  fileprivate func isChangingInitializer(as type: String) -> Bool {
    guard arguments.isEmpty else { return false }
    let initializer = ".init"
    let name = calledExpression.trimmedDescription
    if name == initializer { return ExprSyntax.isChanging(type) }
    return ExprSyntax.isChanging(name.hasSuffix(initializer) ? String(name.dropLast(initializer.count)) : name)
  }
}

extension MemberAccessExprSyntax {
  fileprivate var isPresentDate: Bool {
    declName.baseName.text == "now" && ["", "Date", "Foundation.Date"].contains(base?.trimmedDescription ?? "")
  }
}
