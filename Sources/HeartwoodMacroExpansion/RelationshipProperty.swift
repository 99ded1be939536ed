import SwiftSyntax
import SwiftSyntaxBuilder

/// A property with `@Relationship`, and the text of its key, its accessors and its description.
struct RelationshipProperty {
  /// The Swift type in which the property returns the related objects.
  private enum Form {
    case one, relatedSet, relatedList, array, set
  }

  let variable: PersistedVariable
  private let destination: TypeSyntax
  private let form: Form

  /// - Throws: ``MacroFault`` if the property cannot be a relationship.
  init(_ variable: PersistedVariable) throws(MacroFault) {
    self.variable = variable
    let written = OptionalType(variable.type)
    if let fault = written.faultOfUnwrapping(variable) { throw fault }
    if let collection = Self.collection(written.wrapped) {
      if written.isOptional { throw Self.optionalCollection(variable, written.wrapped) }
      (form, destination) = collection
    } else if written.isOptional {
      (form, destination) = (.one, written.wrapped)
    } else {
      throw MacroFault(
        "requiredObject",
        "A relationship is empty until it is set: its type must be optional, or a RelatedSet or RelatedList. Write .required if no "
          + "object may be saved without it.",
        at: variable.writtenType,
        mends: [variable.makingTypeOptional]
      )
    }
    try checkOrder()
    try checkInitialValue()
  }

  private static func collection(_ type: TypeSyntax) -> (Form, TypeSyntax)? {
    if let array = type.as(ArrayTypeSyntax.self) { return (.array, array.element.trimmed) }
    let forms: [(String, Form)] = [
      ("RelatedSet", .relatedSet), ("RelatedList", .relatedList), ("Array", .array), ("Set", .set),
    ]
    for (name, form) in forms {
      if let element = type.onlyArgument(of: name) { return (form, element) }
    }
    return nil
  }

  private static func optionalCollection(_ variable: PersistedVariable, _ wrapped: TypeSyntax) -> MacroFault {
    let written = variable.writtenType
    var bare = wrapped
    bare.trailingTrivia = written.trailingTrivia
    return MacroFault(
      "optionalCollection",
      "A relationship to any number of objects is empty, never nil.",
      at: variable.writtenType,
      mends: [.init("Remove the question mark", replacing: written, by: bare)]
    )
  }

  private func checkOrder() throws(MacroFault) {
    guard let option = variable.arguments.option("ordered"), form != .array, form != .relatedList else { return }
    guard form != .one else {
      throw MacroFault("orderOfOne", "One object has no order.", at: option)
    }
    let written = variable.writtenType
    var list = TypeSyntax("RelatedList<\(destination)>")
    list.trailingTrivia = written.trailingTrivia
    throw MacroFault(
      "orderOfSet",
      "A set has no order.",
      at: option,
      mends: [.init("Make it a RelatedList", replacing: written, by: list)]
    )
  }

  private func checkInitialValue() throws(MacroFault) {
    guard let value = variable.initialValue else { return }
    let isEmpty = form == .one ? value.is(NilLiteralExprSyntax.self) : value.trimmedDescription == "[]"
    if !isEmpty {
      throw variable.faultOfInitialValue(
        "relationshipDefault",
        "A new object's relationships are empty. Set the relationship in awakeFromInsert()."
      )
    }
  }
}

extension RelationshipProperty: PersistedProperty {
  var keyType: String { (form == .one ? "ToOneKey" : "ToManyKey") + "<\(destination.trimmedDescription)>" }

  func getter(key: String) -> String {
    switch form {
    case .one, .array: "self[\(key)]"
    case .relatedSet: "self[set: \(key)]"
    case .relatedList: "self[list: \(key)]"
    case .set: "Set(self[\(key)])"
    }
  }

  func setter(key: String) -> String? {
    switch form {
    case .one, .array: "self[\(key)] = newValue"
    case .relatedSet: "self[set: \(key)] = newValue"
    case .relatedList: "self[list: \(key)] = newValue"
    case .set: "self[\(key)] = Array(newValue)"
    }
  }

  var description: String {
    let arguments = variable.arguments
    var call = CallText(variable.keyName)
    call.add("inverse", inverse)
    call.add("oneSidedInverse", if: arguments.has("oneSidedInverse"))
    call.add("ordered", if: form == .relatedList || arguments.has("ordered"))
    if arguments.has("required") { call.add("optional", "false") }
    call.add("transient", if: arguments.has("transient"))
    call.add("deleteRule", arguments.text("deleteRule"))
    call.add("minCount", arguments.text("minCount"))
    call.add("maxCount", form == .one ? nil : arguments.text("maxCount"))
    variable.addCommonArguments(to: &call)
    return call.call(form == .one ? ".toOne" : ".toMany")
  }

  /// The expression with the name of the inverse. For a key path, it refers to the key of the last property, so that
  /// the compiler checks that there is one.
  private var inverse: String? {
    guard let argument = variable.arguments["inverse"] else { return nil }
    guard let keyPath = argument.as(KeyPathExprSyntax.self) else { return argument.trimmedDescription }
    guard let property = keyPath.components.last?.component.as(KeyPathPropertyComponentSyntax.self) else { return nil }
    // In `\Outer.Item.list`, the parser takes only `Outer` as the root.
    let inner = keyPath.components.dropLast().map(\.trimmedDescription).joined()
    let owner = keyPath.root.map { $0.trimmedDescription + inner } ?? destination.trimmedDescription
    return "\(owner).\(property.declName.baseName.text.trimmingBackticks)Key.name"
  }
}
