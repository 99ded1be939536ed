import SwiftParser
import SwiftSyntax

/// Turns a source that was written for Apple's compiler into one that Swift compiles on systems without Objective-C.
///
/// Line numbers do not change, so diagnostics name the lines of the original:
///
///     @NSManaged var memo: String?
///     var memo: String? { get { managedValue(forKey: "memo") } set { setManagedValue(newValue, forKey: "memo") } }
package enum SourceRewriter {
  /// Returns the rewritten source; nil if it can stay as it is. O(length).
  package static func rewrite(_ source: String) -> String? {
    guard marks.contains(where: source.contains) else { return nil }
    let collector = EditCollector(viewMode: .sourceAccurate)
    collector.walk(Parser.parse(source: source))
    return collector.edits.isEmpty ? nil : apply(collector.edits, to: source)
  }

  /// One of these is in every source that needs a change.
  private static let marks = [
    "@NSManaged", "@objc", "#keyPath", "init(entity", "init(context", "init(persistentStore", "NSFetchRequest<",
  ]

  private static func apply(_ edits: [SourceEdit], to source: String) -> String {
    let bytes = Array(source.utf8)
    var result: [UInt8] = []
    var place = 0
    for edit in edits.sorted(by: { ($0.range.lowerBound, $0.order) < ($1.range.lowerBound, $1.order) }) {
      guard edit.range.lowerBound >= place else { continue }
      result += bytes[place..<edit.range.lowerBound]
      result += edit.text.utf8
      place = edit.range.upperBound
    }
    result += bytes[place...]
    return String(decoding: result, as: UTF8.self)
  }
}

/// A replacement of some bytes of a source.
struct SourceEdit {
  let range: Range<Int>
  let text: String
  /// The place among the edits at the same position.
  let order: Int
}

// MARK: EditCollector

/// Finds what has to change.
private final class EditCollector: SyntaxVisitor {
  private(set) var edits: [SourceEdit] = []

  private func replace(_ range: Range<AbsolutePosition>, by text: String) {
    let bytes = range.lowerBound.utf8Offset..<range.upperBound.utf8Offset
    edits.append(SourceEdit(range: bytes, text: text, order: edits.count))
  }

  private func insert(_ text: String, at position: AbsolutePosition) { replace(position..<position, by: text) }

  /// Replaces a node by text that has as many line breaks as the node.
  private func replace(_ node: some SyntaxProtocol, by text: String) {
    let breaks = node.trimmedDescription.count { $0.isNewline } - text.count { $0.isNewline }
    let range = node.positionAfterSkippingLeadingTrivia..<node.endPositionBeforeTrailingTrivia
    replace(range, by: text + String(repeating: "\n", count: max(0, breaks)))
  }

  /// Removes a node and the spaces after it.
  private func remove(_ node: some SyntaxProtocol) {
    let spaces = node.trailingTrivia.pieces.prefix { if case .spaces = $0 { true } else { false } }
    let length = spaces.reduce(0) { $0 + $1.sourceLength.utf8Length }
    let start = node.positionAfterSkippingLeadingTrivia
    replace(start..<node.endPositionBeforeTrailingTrivia.advanced(by: length), by: "")
  }

  // MARK: Attributes

  private static let objectiveC: Set<String> = ["objc", "objcMembers"]

  private func attributes(_ list: AttributeListSyntax) -> [AttributeSyntax] {
    list.compactMap { $0.as(AttributeSyntax.self) }
  }

  private func named(_ names: Set<String>, in list: AttributeListSyntax) -> [AttributeSyntax] {
    attributes(list).filter { names.contains($0.attributeName.trimmedDescription) }
  }

  override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind {
    if Self.objectiveC.contains(node.attributeName.trimmedDescription) { remove(node) }
    return .visitChildren
  }

  // MARK: Properties

  override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
    guard let attribute = named(["NSManaged"], in: node.attributes).first else { return .visitChildren }
    remove(attribute)
    let declaration = node.modifiers.map { $0.trimmedDescription + " " }.joined() + "var"
    for binding in node.bindings where binding.accessorBlock == nil {
      guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else { continue }
      let type = binding.typeAnnotation == nil ? self.type(after: binding, in: node) : ""
      insert(type + Self.accessors(of: name.identifier?.name ?? name.text), at: binding.endOfValue)
      // Computed properties are declared one by one.
      if let comma = binding.trailingComma { replace(comma, by: "; " + declaration) }
    }
    return .visitChildren
  }

  /// Returns the type that several properties share: `var a, b: String?`.
  private func type(after binding: PatternBindingSyntax, in node: VariableDeclSyntax) -> String {
    let rest = node.bindings.drop { $0.id != binding.id }
    return rest.lazy.compactMap(\.typeAnnotation).first.map { ": " + $0.type.trimmedDescription } ?? ""
  }

  private static func accessors(of key: String) -> String {
    " { get { managedValue(forKey: \"\(key)\") } set { setManagedValue(newValue, forKey: \"\(key)\") } }"
  }

  // MARK: Functions

  private static let relationshipFunctions = [
    "addTo": "addManagedValues", "removeFrom": "removeManagedValues",
  ]

  override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
    guard let attribute = named(["NSManaged"], in: node.attributes).first else { return .visitChildren }
    for (prefix, call) in Self.relationshipFunctions where node.name.text.hasPrefix(prefix) {
      guard let parameter = node.signature.parameterClause.parameters.first,
        node.signature.parameterClause.parameters.count == 1
      else { continue }
      let argument = (parameter.secondName ?? parameter.firstName).text
      remove(attribute)
      insert(
        " { \(call)(\(argument), forKey: \"\(Self.key(String(node.name.text.dropFirst(prefix.count))))\") }",
        at: node.endPositionBeforeTrailingTrivia
      )
    }
    return .visitChildren
  }

  /// Returns the name of the relationship of a function like `addToItems`.
  private static func key(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }

  // MARK: Initializers

  override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
    let labels = node.signature.parameterClause.parameters.map(\.firstName.text)
    switch labels {
    case ["entity", "insertInto"], ["persistentStoreCoordinator", "configurationName", "at", "options"]:
      // The framework makes objects of classes that it does not know, which Swift allows for `required` alone.
      if let modifier = node.modifiers.first(where: { $0.name.text == "override" }) {
        replace(modifier, by: "required")
      }
    case ["context"] where isInClass(node) && !node.modifiers.contains { $0.name.text == "required" }:
      let type = node.signature.parameterClause.parameters.first?.type.trimmedDescription
      if type == "NSManagedObjectContext" {
        insert("required ", at: node.initKeyword.positionAfterSkippingLeadingTrivia)
      }
    default: break
    }
    return .visitChildren
  }

  private func isInClass(_ node: InitializerDeclSyntax) -> Bool {
    node.parent?.as(MemberBlockItemSyntax.self)?.parent?.parent?.parent?.is(ClassDeclSyntax.self) ?? false
  }

  // MARK: Types

  override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
    guard node.genericParameterClause == nil, isAtTopOrInType(node),
      let attribute = named(["objc"], in: node.attributes).first, let arguments = attribute.arguments
    else { return .visitChildren }
    let name = arguments.trimmedDescription
    guard name != node.name.text, !name.contains(":"), !name.isEmpty else { return .visitChildren }
    let isPrivate = node.modifiers.contains { ["private", "fileprivate"].contains($0.name.text) }
    insert(
      "; \(isPrivate ? "fileprivate " : "")enum CoreDataName_\(name): ManagedObjectClassName "
        + "{ static var objectClass: AnyClass { \(node.name.text).self } }",
      at: node.endPositionBeforeTrailingTrivia
    )
    return .visitChildren
  }

  private func isAtTopOrInType(_ node: ClassDeclSyntax) -> Bool {
    var parent = node.parent
    while let current = parent {
      if current.is(CodeBlockSyntax.self) || current.is(ClosureExprSyntax.self) { return false }
      parent = current.parent
    }
    return true
  }

  /// A protocol of Objective-C is one of classes.
  override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
    guard !named(["objc"], in: node.attributes).isEmpty else { return .visitChildren }
    if let inherited = node.inheritanceClause?.inheritedTypes.last {
      insert(", AnyObject", at: inherited.endPositionBeforeTrailingTrivia)
    } else {
      insert(": AnyObject", at: node.name.endPositionBeforeTrailingTrivia)
    }
    return .visitChildren
  }

  // MARK: Expressions

  override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
    guard node.macroName.text == "keyPath", let argument = node.arguments.first?.expression else {
      return .visitChildren
    }
    replace(node, by: "\"\(Self.keys(argument.trimmedDescription))\"")
    return .skipChildren
  }

  /// Returns the keys of a path, without the types before them: `list.title` for `App.ToDo.list.title`.
  private static func keys(_ path: String) -> String {
    let parts = path.filter { !$0.isWhitespace && $0 != "?" && $0 != "!" && $0 != "`" }.split(separator: ".")
    let keys = parts.drop { $0.first?.isUppercase ?? false || $0 == "self" }
    return (keys.isEmpty ? parts.suffix(1) : keys).joined(separator: ".")
  }

  /// A forced cast to a request of other results: Swift keeps the arguments of generic classes, Objective-C does not.
  override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
    let elements = Array(node.elements)
    for index in elements.indices.dropFirst().dropLast() {
      guard let cast = elements[index].as(UnresolvedAsExprSyntax.self),
        cast.questionOrExclamationMark?.tokenKind == .exclamationMark,
        elements[index + 1].trimmedDescription.hasPrefix("NSFetchRequest<")
      else { continue }
      let target = elements[index + 1]
      replace(
        elements[index - 1].endPositionBeforeTrailingTrivia..<target.endPositionBeforeTrailingTrivia,
        by: ".requesting(\(target.trimmedDescription).self)"
      )
    }
    return .visitChildren
  }
}

extension PatternBindingSyntax {
  /// Where the accessors of the property are written.
  fileprivate var endOfValue: AbsolutePosition {
    typeAnnotation?.endPositionBeforeTrailingTrivia ?? pattern.endPositionBeforeTrailingTrivia
  }
}
