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
  ///
  /// - Parameters:
  ///   - names: the types of the package's modules whose names Foundation has too.
  ///   - standIns: the modules that are imported in place of some of Apple's: ``standIns``, or none.
  package static func rewrite(
    _ source: String,
    _ names: OwnNames = OwnNames(),
    standIns: [String: String] = [:]
  ) -> String? {
    guard marks.contains(where: source.contains) || !standIns.isEmpty else { return nil }
    let tree = Parser.parse(source: source)
    let imports = ImportCollector(tree)
    let collector = EditCollector(imports, names, standIns)
    collector.walk(tree)
    let present = imports.names.union(standIns.filter { imports.names.contains($0.value) }.keys)
    let needed = imports.names.isEmpty ? [] : collector.needed.subtracting(present).sorted()
    if collector.edits.isEmpty, needed.isEmpty { return nil }
    return apply(collector.edits, to: source) + needed.map { importAtTheEnd(standIns[$0] ?? $0) }.joined()
  }

  /// Returns an import for a source that another file of its module, or a module that it imports, gives a module's names
  /// on Apple's systems. It stands behind the last line, so that the lines before it keep their numbers.
  private static func importAtTheEnd(_ module: String) -> String {
    "\n#if canImport(\(module))\n  import \(module)\n#endif\n"
  }

  /// The small modules that tests can have in place of Apple's, by their names.
  package static let standIns = ["Combine": "CombineStandIn", "OSLog": "OSLogStandIn", "os": "OSLogStandIn"]

  /// One of these is in every source that needs a change.
  private static let marks = [
    "@NSManaged", "@objc", "#keyPath", "init(entity", "init(context", "init(persistentStore", "NSFetchRequest<",
    "NSExpression", "NSComparisonPredicate", "NSCompoundPredicate", "NSManagedObject", "NSStringFromClass",
    "#selector", "removeObserver", "import CoreData", "Bundle(identifier", "canImport(Darwin)",
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

// MARK: ImportCollector

/// The names of the modules that a source imports as a whole, and of the declarations that it imports alone.
private final class ImportCollector: SyntaxVisitor {
  private(set) var names: Set<String> = []
  private(set) var declarations: Set<String> = []

  init(_ tree: SourceFileSyntax) {
    super.init(viewMode: .sourceAccurate)
    walk(tree)
  }

  override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
    if let first = node.path.first { names.insert(first.name.text) }
    if node.importKindSpecifier != nil, let last = node.path.last { declarations.insert(last.name.text) }
    return .skipChildren
  }
}

// MARK: EditCollector

/// Finds what has to change.
private final class EditCollector: SyntaxVisitor {
  private(set) var edits: [SourceEdit] = []
  /// The modules whose names the source has, and whose imports it needs.
  private(set) var needed: Set<String> = []
  private let imports: ImportCollector
  private let names: OwnNames
  private let importsCoreData: Bool
  private let standIns: [String: String]
  /// The names of modules that have been replaced.
  private var renamed: Set<SyntaxIdentifier> = []

  init(_ imports: ImportCollector, _ names: OwnNames, _ standIns: [String: String]) {
    self.imports = imports
    self.standIns = standIns
    self.names = names
    importsCoreData = imports.names.contains("CoreData")
    super.init(viewMode: .sourceAccurate)
  }

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

  // MARK: Names that Foundation has too

  /// Classes that Foundation declares on Linux without a way to make one.
  private static let absent: Set<String> = ["NSExpression", "NSComparisonPredicate"]
  /// What names the properties of classes that need not be of Core Data, and where.
  private var namedClasses: [(position: AbsolutePosition, text: String)] = []
  /// Where the source has names of ``limited``.
  private var limitedNames: [AbsolutePosition] = []
  /// What Foundation has in a form that does less. A module need not have Core Data to use it.
  private static let limited: Set<String> = ["NSCompoundPredicate", "NSStringFromClass"]

  override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
    qualify(node.name)
    if node.parent?.is(MemberTypeSyntax.self) == true { standIn(forQualifier: node.name) }
    return .visitChildren
  }

  override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
    let isMember = node.parent?.as(MemberAccessExprSyntax.self).map { $0.declName.id == node.id } ?? false
    if !isMember { qualify(node.baseName) }
    if !isMember, node.parent?.is(MemberAccessExprSyntax.self) == true { standIn(forQualifier: node.baseName) }
    return .visitChildren
  }

  /// Names the module before a class that Foundation has too.
  private func qualify(_ name: TokenSyntax) {
    if name.text.hasPrefix("NSManagedObject") { needed.insert("CoreData") }
    if standIns["Combine"] != nil, Self.combine.contains(name.text) { needed.insert("Combine") }
    if !imports.declarations.contains(name.text), let module = names.module(of: name.text, imported: imports.names) {
      insert(module + ".", at: name.positionAfterSkippingLeadingTrivia)
    }
    if Self.limited.contains(name.text) { limitedNames.append(name.positionAfterSkippingLeadingTrivia) }
    guard Self.absent.contains(name.text) else { return }
    needed.insert("CoreData")
    insert("CoreData.", at: name.positionAfterSkippingLeadingTrivia)
  }

  /// If the source uses Core Data, names its module before what Foundation has in a form that does less, and writes the
  /// names of properties.
  override func visitPost(_ node: SourceFileSyntax) {
    guard importsCoreData || needed.contains("CoreData") else { return }
    for position in limitedNames { insert("CoreData.", at: position) }
    for (position, text) in namedClasses { insert(text, at: position) }
  }

  // MARK: Stand-ins

  /// Names of Combine, which Foundation hands on to whoever imports it.
  private static let combine: Set<String> = [
    "AnyCancellable", "AnyPublisher", "CurrentValueSubject", "ObservableObject", "PassthroughSubject",
  ]

  override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
    guard let module = node.path.first, let last = node.path.last, node.importKindSpecifier == nil,
      let standIn = standIns[module.name.text], node.path.count > 1
    else {
      if let module = node.path.first { standIn(for: module.name) }
      return .visitChildren
    }
    // A stand-in has no modules in it.
    let path = module.positionAfterSkippingLeadingTrivia..<last.endPositionBeforeTrailingTrivia
    replace(path, by: standIn)
    return .skipChildren
  }

  private func standIn(forQualifier name: TokenSyntax) {
    if imports.names.contains(name.text) { standIn(for: name) }
  }

  /// Names the module that stands in for one of Apple's, once.
  private func standIn(for name: TokenSyntax) {
    guard let standIn = standIns[name.text], renamed.insert(name.id).inserted else { return }
    replace(name, by: standIn)
  }

  // MARK: Conditions

  /// What once was on Apple's systems alone, and is in Foundation or this module now.
  private static let appleNames = [
    "NSManagedObject", "NSFetchRequest", "NSPersistent", "NSExpression", "NSComparisonPredicate", "NSPredicate(format",
    "NSSortDescriptor(key", "Foundation.SortDescriptor<", "extension NSNumber",
  ]

  /// A part that is for Apple's systems, and uses what is here too, is compiled.
  override func visit(_ node: IfConfigClauseSyntax) -> SyntaxVisitorContinueKind {
    let tokens = node.condition.map { Array($0.tokens(viewMode: .sourceAccurate)) } ?? []
    for (name, token) in zip(tokens, tokens.dropFirst(2)) where name.text == "canImport" { standIn(for: token) }
    guard let condition = node.condition, condition.trimmedDescription == "canImport(Darwin)",
      let text = node.elements?.description, Self.appleNames.contains(where: text.contains)
    else { return .visitChildren }
    needed.insert("CoreData")
    insert(" || canImport(CoreData)", at: condition.endPositionBeforeTrailingTrivia)
    return .visitChildren
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
        // Such an initializer must be visible wherever the class can have subclasses.
        for modifier in node.modifiers where ["private", "fileprivate"].contains(modifier.name.text) {
          replace(modifier, by: isInOpenClass(node) ? "public" : "internal")
        }
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

  private func isInClass(_ node: InitializerDeclSyntax) -> Bool { classDeclaration(of: node) != nil }

  private func isInOpenClass(_ node: InitializerDeclSyntax) -> Bool {
    classDeclaration(of: node)?.modifiers.contains { $0.name.text == "open" } ?? false
  }

  private func classDeclaration(of node: InitializerDeclSyntax) -> ClassDeclSyntax? {
    node.parent?.as(MemberBlockItemSyntax.self)?.parent?.parent?.parent?.as(ClassDeclSyntax.self)
  }

  // MARK: Types

  override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
    nameKeyPaths(node)
    requireInitializer(node)
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

  /// Writes down the names that Objective-C gives the properties of a managed object's class.
  private func nameKeyPaths(_ node: ClassDeclSyntax) {
    let parents = node.inheritanceClause?.inheritedTypes.map(\.type.trimmedDescription) ?? []
    guard node.genericParameterClause == nil, let last = node.memberBlock.members.last,
      let parent = ["NSManagedObject", "NSObject"].first(where: parents.contains)
    else { return }
    let names = node.memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }.flatMap(keys)
    if names.isEmpty { return }
    let entries = names.map { "\\\(node.name.text).\($0): \"\($0)\"" }.joined(separator: ", ")
    let isPublic = node.modifiers.contains { ["public", "open"].contains($0.name.text) }
    let access = isPublic ? "public " : ""
    let list = "class var keyPathNames: [AnyKeyPath: String] { [\(entries)] }"
    if parent == "NSManagedObject" {
      return insert("; \(access)override \(list)", at: last.endPositionBeforeTrailingTrivia)
    }
    guard let lastParent = node.inheritanceClause?.inheritedTypes.last else { return }
    namedClasses.append((lastParent.endPositionBeforeTrailingTrivia, ", CoreData.KeyPathNaming"))
    namedClasses.append((last.endPositionBeforeTrailingTrivia, "; \(access)\(list)"))
  }

  /// The initializers by which the framework makes objects of classes that it does not know. Objective-C lets a
  /// subclass do without them.
  private static let frameworkInitializers: [String: (labels: [String], text: String)] = {
    let object =
      "init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) "
      + "{ super.init(entity: entity, insertInto: context) }"
    let store =
      "init(persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, "
      + "at url: URL, options: [AnyHashable: Any]? = nil) { super.init(persistentStoreCoordinator: root, "
      + "configurationName: name, at: url, options: options) }"
    let labels = ["persistentStoreCoordinator", "configurationName", "at", "options"]
    return [
      "NSManagedObject": (["entity", "insertInto"], object), "NSAtomicStore": (labels, store),
      "NSPersistentStore": (labels, store),
    ]
  }()

  /// Adds the initializer of the framework to a class that has others only, which Swift does not then inherit.
  private func requireInitializer(_ node: ClassDeclSyntax) {
    let parents = node.inheritanceClause?.inheritedTypes.map(\.type.trimmedDescription) ?? []
    guard let needed = parents.lazy.compactMap({ Self.frameworkInitializers[$0] }).first,
      let last = node.memberBlock.members.last
    else { return }
    let designated = node.memberBlock.members.compactMap { $0.decl.as(InitializerDeclSyntax.self) }
      .filter { initializer in !initializer.modifiers.contains { $0.name.text == "convenience" } }
      .map { $0.signature.parameterClause.parameters.map(\.firstName.text) }
    guard !designated.isEmpty, !designated.contains(needed.labels) else { return }
    let isPublic = node.modifiers.contains { ["public", "open"].contains($0.name.text) }
    insert("; \(isPublic ? "public " : "")required \(needed.text)", at: last.endPositionBeforeTrailingTrivia)
  }

  private func keys(_ node: VariableDeclSyntax) -> [String] {
    let isOfClass = node.modifiers.contains { ["class", "static"].contains($0.name.text) }
    guard !isOfClass, !named(["objc"], in: node.attributes).isEmpty, named(["NSManaged"], in: node.attributes).isEmpty
    else { return [] }
    return node.bindings.compactMap { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.identifier?.name }
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
    guard let argument = node.arguments.first, argument.label == nil else { return .visitChildren }
    switch node.macroName.text {
    case "keyPath": replace(node, by: "\"\(Self.keys(argument.expression.trimmedDescription))\"")
    case "selector":
      needed.insert("CoreData")
      replace(node, by: Self.selector(of: argument.expression))
    default: return .visitChildren
    }
    return .skipChildren
  }

  /// Returns the selector of a method, which is named with its type, with `self`, or alone.
  private static func selector(of method: ExprSyntax) -> String {
    let text = method.trimmedDescription
    guard let member = method.as(MemberAccessExprSyntax.self) else { return "Selector(\"\(text)\", Self.\(text))" }
    let name = member.declName.trimmedDescription
    let isOfObject = member.base?.trimmedDescription == "self"
    return "Selector(\"\(name)\", \(isOfObject ? "Self.\(name)" : text))"
  }

  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    let labels = node.arguments.map { $0.label?.text ?? "" }
    if labels == ["identifier"], node.calledExpression.trimmedDescription == "Bundle" {
      needed.insert("CoreData")
      insert(".found", at: node.calledExpression.endPositionBeforeTrailingTrivia)
    }
    if importsCoreData, [[""], ["", "name", "object"]].contains(labels),
      let name = node.calledExpression.as(MemberAccessExprSyntax.self)?.declName, name.baseName.text == "removeObserver"
    {
      replace(name, by: "removeSelectorObserver")
    }
    return .visitChildren
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
        elements[index + 1].trimmedDescription.hasPrefix("NSFetchRequest<"),
        // A copy is of the type Any, and of the same class.
        !elements[index - 1].trimmedDescription.hasSuffix(".copy()")
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
