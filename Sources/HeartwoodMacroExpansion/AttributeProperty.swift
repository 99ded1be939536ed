import SwiftSyntax

/// A property with `@Attribute`: its key, its accessors and its description, as text.
struct AttributeProperty {
  let variable: PersistedVariable
  /// The type without its question mark; the type itself where it has none.
  private let wrappedType: String
  private let isOptional: Bool

  /// - Throws: ``MacroFault`` where the property can be no attribute.
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
      "What a transformer makes may be nothing, so the property's type is optional.",
      at: variable.writtenType,
      mends: [variable.makingTypeOptional]
    )
  }

  private func checkInitialValue() throws(MacroFault) {
    guard let value = variable.initialValue else { return }
    if isDerived {
      throw variable.faultOfInitialValue("derivedDefault", "The value is computed, so the property has no initial one.")
    }
    if isTransformed {
      throw variable.faultOfInitialValue(
        "transformedDefault",
        "A transformer may be registered later than the model is made. Set the initial value in awakeFromInsert()."
      )
    }
    if value.differsEachTime {
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

  /// Whether no two objects have the same value.
  var isUnique: Bool { arguments.has("unique") }

  /// Whether objects are found fast by the value.
  var isIndexed: Bool { arguments.has("indexed") }
}

extension ExprSyntax {
  /// Whether it is known to have another value each time: `UUID()`, `Date()`, `Date.now`.
  fileprivate var differsEachTime: Bool {
    if let call = self.as(FunctionCallExprSyntax.self) {
      let name = call.calledExpression.trimmedDescription
      let changing = ["UUID", "Date", "UUID.init", "Date.init", "Foundation.UUID", "Foundation.Date"]
      return call.arguments.isEmpty && changing.contains(name)
    }
    guard let member = self.as(MemberAccessExprSyntax.self), member.declName.baseName.text == "now" else {
      return false
    }
    return ["", "Date", "Foundation.Date"].contains(member.base?.trimmedDescription ?? "")
  }
}
