package import SwiftSyntax
import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

#if !canImport(SwiftSyntax)
  #error("HeartwoodMacros needs swift-syntax: add \"Macros\" to the traits of your dependency on Heartwood.")
#endif

/// A macro that generates the description of an entity from a class: `@Entity`. It is a protocol for the same reason as
/// ``PropertyMacro``.
package protocol EntityClassMacro: MemberMacro {}

extension EntityClassMacro {
  package static func expansion(
    of node: AttributeSyntax,
    providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    do throws(MacroFault) {
      return try EntityClass(declaration, macro: node).members
    } catch {
      context.diagnose(error.diagnostic)
      return []
    }
  }
}

// MARK: EntityClass

/// A class with `@Entity`, and the members that the macro generates.
struct EntityClass {
  let declaration: ClassDeclSyntax
  let arguments: MacroArguments
  let properties: [any PersistedProperty]

  init(_ declaration: some DeclGroupSyntax, macro: AttributeSyntax) throws(MacroFault) {
    guard let declaration = declaration.as(ClassDeclSyntax.self) else {
      throw MacroFault(
        "notAClass",
        "@Entity is for classes: objects of the graph belong to subclasses of ManagedObject.",
        at: macro
      )
    }
    self.declaration = declaration
    arguments = MacroArguments(macro)
    guard Self.hasSuperclass(declaration) else { throw Self.missingSuperclass(declaration) }
    if let name = arguments.unlabeled.first, !name.isPlainText {
      throw MacroFault("computedName", "The entity's name must be a literal without interpolations.", at: name)
    }
    for member in declaration.memberBlock.members { try Self.checkCondition(member.decl) }
    properties = PropertyReader.properties(among: declaration.memberBlock.members)
  }

  /// Returns whether the class may have a superclass. A superclass comes first, so there is none if the first inherited
  /// type is known not to be a class, or not to be a managed object.
  private static func hasSuperclass(_ declaration: ClassDeclSyntax) -> Bool {
    guard let first = declaration.inheritanceClause?.inheritedTypes.first else { return false }
    return ![
      "Codable", "Comparable", "CustomStringConvertible", "Decodable", "Encodable", "Equatable", "Hashable",
      "Identifiable", "NSManagedObject", "NSObject", "Observable", "ObservableObject", "Sendable",
    ].contains(first.type.trimmedDescription)
  }

  private static func missingSuperclass(_ declaration: ClassDeclSyntax) -> MacroFault {
    var subclass = declaration
    var inherited = InheritedTypeSyntax(type: IdentifierTypeSyntax(name: .identifier("ManagedObject")))
    if let clause = declaration.inheritanceClause {
      inherited.trailingComma = .commaToken(trailingTrivia: .space)
      subclass.inheritanceClause?.inheritedTypes = InheritedTypeListSyntax([inherited] + Array(clause.inheritedTypes))
    } else {
      let trivia = declaration.name.trailingTrivia
      subclass.name.trailingTrivia = []
      subclass.inheritanceClause = InheritanceClauseSyntax(
        colon: .colonToken(trailingTrivia: .space),
        inheritedTypes: [inherited],
        trailingTrivia: trivia
      )
    }
    return MacroFault(
      "missingSuperclass",
      "The class of an entity must inherit from ManagedObject, or from the class of another entity.",
      at: declaration.name,
      mends: [.init("Inherit from 'ManagedObject'", replacing: declaration, by: subclass)]
    )
  }

  /// Refuses properties within `#if`: a macro does not know which of them are compiled.
  private static func checkCondition(_ member: DeclSyntax) throws(MacroFault) {
    guard let condition = member.as(IfConfigDeclSyntax.self) else { return }
    for clause in condition.clauses {
      guard case .decls(let members)? = clause.elements else { continue }
      for member in members {
        guard let variable = member.decl.as(VariableDeclSyntax.self), let macro = PropertyReader.macro(of: variable)
        else { continue }
        throw MacroFault(
          "conditionalProperty",
          "@Entity does not know which properties #if chooses. Declare the property for every build.",
          at: macro
        )
      }
    }
  }
}

extension EntityClass {
  private var className: String { declaration.name.text }

  private var nameLiteral: String { arguments.unlabeled.first?.trimmedDescription ?? "\"\(className)\"" }

  /// The access modifier of the generated overrides, which is that of the class.
  private var access: String {
    let names = declaration.modifiers.map(\.name.text)
    return ["open", "public", "package"].first(where: names.contains).map { $0 + " " } ?? ""
  }

  var members: [DeclSyntax] {
    let name: DeclSyntax = """
      /// The name of the entity whose objects are of this class.
      \(raw: access)override class var entityName: String { \(raw: nameLiteral) }
      """
    return [name, definition] + (properties.isEmpty ? [] : [keyPathNames])
  }

  private var definition: DeclSyntax {
    """
    /// The entity of the class's objects, with the properties that the class adds.
    \(raw: access)override class var entityDefinition: EntityDefinition? {
      get throws {
        try EntityDefinition(
          \(raw: entityArguments.joined(separator: ",\n      "))
        )
      }
    }
    """
  }

  private var entityArguments: [String] {
    var lines = ["name: \(nameLiteral)", "managedObjectClassName: \"\(className)\""]
    func add(_ label: String, _ text: String?) {
      if let text { lines.append("\(label): \(text)") }
    }
    add("isAbstract", arguments.text("abstract"))
    lines.append("superentityName: super.entityDefinition?.name")
    if !properties.isEmpty {
      let descriptions = properties.map { "\n        \($0.description)," }.joined()
      lines.append("properties: [\(descriptions)\n      ]")
    }
    add("uniquenessConstraints", uniquenessConstraints)
    add("fetchedProperties", arguments.text("fetchedProperties"))
    add("fetchIndexes", indexes)
    add("compositeAttributes", arguments.text("compositeAttributes"))
    add("renamingIdentifier", arguments.text("renamedFrom"))
    add("versionHashModifier", arguments.text("versionHashModifier"))
    add("userInfo", arguments.text("userInfo"))
    return lines
  }

  /// The constraints of single attributes, and those in the arguments of `@Entity`.
  private var uniquenessConstraints: String? {
    let own = attributes.filter(\.isUnique).map { "[\($0.variable.keyName).name]" }
    return Self.sum(own, arguments.text("unique"))
  }

  private var indexes: String? {
    let own = attributes.filter(\.isIndexed).map { attribute in
      let name = attribute.variable.bareIdentifier
      let capitalized = name.prefix(1).uppercased() + name.dropFirst()
      return "FetchIndexDescription(name: \"by\(capitalized)Index\", properties: [\(attribute.variable.keyName).name])"
    }
    return Self.sum(own, arguments.text("indexes"))
  }

  private var attributes: [AttributeProperty] { properties.compactMap { $0 as? AttributeProperty } }

  /// Returns an array literal of `elements`, added to the expression of another array.
  private static func sum(_ elements: [String], _ others: String?) -> String? {
    let own = elements.isEmpty ? nil : "[\(elements.joined(separator: ", "))]"
    let parts = [own, others].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: " + ")
  }

  private var keyPathNames: DeclSyntax {
    let cases = properties.map { property in
      "  case \\\(className).\(property.variable.identifier):\n    \(property.variable.keyName).name\n"
    }
    let text = """
      /// The name of the property that is read by a key path.
      \(access)override class func propertyName(forKeyPath keyPath: AnyKeyPath) -> String? {
        switch keyPath {
      \(cases.joined())  default:
          super.propertyName(forKeyPath: keyPath)
        }
      }
      """
    return "\(raw: text)"
  }
}

// MARK: ReservedNames

/// The members of every managed object. Properties cannot have the same names in Swift. The review of models has the
/// same list.
enum ReservedNames {
  static let members: Set<String> = [
    "awakeFromFetch", "awakeFromInsert", "changedValues", "changedValuesForCurrentEvent", "committedValues",
    "description",
    "didSave", "didTurnIntoFault", "entity", "entityDefinition", "entityName", "fetchExpression", "hasChanges",
    "hasPersistentChangedValues", "hash", "hashValue", "init", "isDeleted", "isFault", "isInserted", "isUpdated",
    "managedObjectContext", "objectID", "prepareForDeletion", "propertyValidators", "savedVersion", "self", "Type",
    "validateForDelete",
    "validateForInsert", "validateForUpdate", "willAccessValue", "willSave", "willTurnIntoFault",
  ]
}
