import SwiftSyntaxMacrosGenericTestSupport
import Testing

@Suite("What macros cannot work with")
struct FaultTests {
  struct Case: Sendable, CustomStringConvertible {
    let macro: String
    /// What follows the macro.
    let source: String
    let message: String
    /// Where it is shown, from the beginning of the macro.
    let column: Int
    var fixIt: String?
    /// All with the fix-it applied.
    var fixed: String?
    var description: String { "\(macro) \(source)" }
  }

  @Test("A property that cannot be kept is shown, with a fix-it", arguments: properties)
  func property(_ fault: Case) {
    expectExpansion(
      "class C: ManagedObject {\n  \(fault.macro) \(fault.source)\n}",
      "class C: ManagedObject {\n  \(fault.source)\n}",
      diagnostics: [
        DiagnosticSpec(
          message: fault.message,
          line: 2,
          column: fault.column + 2,
          fixIts: fault.fixIt.map { [FixItSpec(message: $0)] } ?? []
        )
      ],
      fixed: fault.fixed.map { "class C: ManagedObject {\n  \($0)\n}" }
    )
  }

  /// An attribute whose initial value is another each time.
  private static func changing(_ source: String, column: Int, fixed: String) -> Case {
    Case(
      macro: "@Attribute",
      source: source,
      message:
        "The initial value is in the model, the same for all objects. Set one of each object's own in awakeFromInsert().",
      column: column,
      fixIt: "Remove the initial value",
      fixed: fixed
    )
  }

  private static let properties = [
    Case(
      macro: "@Attribute",
      source: "let a: Int",
      message: "A property in the graph can change: it must be a var.",
      column: 12,
      fixIt: "Replace 'let' by 'var'",
      fixed: "@Attribute var a: Int"
    ),
    Case(
      macro: "@Attribute(key)",
      source: "var a: Int",
      message: "A macro sees only the source text: write the option as .name.",
      column: 12
    ),
    Case(
      macro: "@Attribute",
      source: "var a = 1.5",
      message: "A macro sees only the source text: write the property's type.",
      column: 16,
      fixIt: "Add the type",
      fixed: "@Attribute var a: Double = 1.5"
    ),
    Case(
      macro: "@Attribute",
      source: "var a = make()",
      message: "A macro sees only the source text: write the property's type.",
      column: 16,
      fixIt: "Add the type",
      fixed: "@Attribute var a: <#Type#> = make()"
    ),
    Case(
      macro: "@Attribute",
      source: "static var a: Int",
      message: "@Attribute keeps a value of each object in the graph: the property cannot be static.",
      column: 12,
      fixIt: "Remove 'static'",
      fixed: "@Attribute var a: Int"
    ),
    Case(
      macro: "@Relationship",
      source: "weak var a: D?",
      message: "@Relationship keeps a value of each object in the graph: the property cannot be weak.",
      column: 15,
      fixIt: "Remove 'weak'",
      fixed: "@Relationship var a: D?"
    ),
    Case(
      macro: "@Attribute",
      source: "var a: Int { 1 }",
      message:
        "The macro writes the accessors, so the property cannot have its own. Override willSave() or didSave() to follow changes.",
      column: 23,
      fixIt: "Remove '@Attribute'",
      fixed: "var a: Int { 1 }"
    ),
    Case(
      macro: "@Attribute",
      source: "var (a, b): (Int, Int)",
      message: "@Attribute is for one property. Declare each by itself.",
      column: 1
    ),
    Case(
      macro: "@Attribute",
      source: "var description: String",
      message:
        "Every managed object has a member called description. Give the property another name, and say what the model "
        + "calls it: @Attribute(name: \"description\").",
      column: 16,
      fixIt: "Rename the property to 'description_'",
      fixed: "@Attribute var description_: String"
    ),
    Case(
      macro: "@Attribute",
      source: "var a: Int!",
      message: "A value may be missing: write the type with a question mark, or without any mark.",
      column: 19,
      fixIt: "Make the type optional",
      fixed: "@Attribute var a: Int?"
    ),
    Case(
      macro: "@Attribute",
      source: "var a: UUID = UUID()",
      message:
        "The initial value is in the model, the same for all objects. Set one of each object's own in awakeFromInsert().",
      column: 26,
      fixIt: "Remove the initial value",
      fixed: "@Attribute var a: UUID"
    ),
    Case(
      macro: "@Attribute",
      source: "var a: Date = .now",
      message:
        "The initial value is in the model, the same for all objects. Set one of each object's own in awakeFromInsert().",
      column: 26,
      fixIt: "Remove the initial value",
      fixed: "@Attribute var a: Date"
    ),
    changing("var a: UUID = .init()", column: 26, fixed: "@Attribute var a: UUID"),
    changing("var a: Foundation.Date? = .init()", column: 38, fixed: "@Attribute var a: Foundation.Date?"),
    changing("var a: String = UUID().uuidString.lowercased()", column: 28, fixed: "@Attribute var a: String"),
    changing("var a: Date = Date() + 60", column: 26, fixed: "@Attribute var a: Date"),
    Case(
      macro: "@Attribute(transformer: \"T\")",
      source: "var a: Color",
      message: "A transformer may return nil, so the property's type must be optional.",
      column: 37,
      fixIt: "Make the type optional",
      fixed: "@Attribute(transformer: \"T\") var a: Color?"
    ),
    Case(
      macro: "@Attribute(derivedFrom: \"b\")",
      source: "var a: Int = 1",
      message: "The value is computed, so the property cannot have an initial one.",
      column: 43,
      fixIt: "Remove the initial value",
      fixed: "@Attribute(derivedFrom: \"b\") var a: Int"
    ),
    Case(
      macro: "@Relationship",
      source: "var a: D",
      message:
        "A relationship is empty until it is set: its type must be optional, or a RelatedSet or RelatedList. Write .required "
        + "if no object may be saved without it.",
      column: 22,
      fixIt: "Make the type optional",
      fixed: "@Relationship var a: D?"
    ),
    Case(
      macro: "@Relationship",
      source: "var a: RelatedSet<D>?",
      message: "A relationship to any number of objects is empty, never nil.",
      column: 22,
      fixIt: "Remove the question mark",
      fixed: "@Relationship var a: RelatedSet<D>"
    ),
    Case(
      macro: "@Relationship(.ordered)",
      source: "var a: RelatedSet<D>",
      message: "A set has no order.",
      column: 15,
      fixIt: "Make it a RelatedList",
      fixed: "@Relationship(.ordered) var a: RelatedList<D>"
    ),
    Case(macro: "@Relationship(.ordered)", source: "var a: D?", message: "One object has no order.", column: 15),
    Case(
      macro: "@Relationship",
      source: "var a: D? = D()",
      message: "A new object's relationships are empty. Set the relationship in awakeFromInsert().",
      column: 27,
      fixIt: "Remove the initial value",
      fixed: "@Relationship var a: D?"
    ),
  ]

  @Test("A class that can be none of an entity is shown")
  func classes() {
    expectExpansion(
      "@Entity struct S {\n}",
      "struct S {\n}",
      diagnostics: [
        DiagnosticSpec(
          message: "@Entity is for classes: objects of the graph belong to subclasses of ManagedObject.",
          line: 1,
          column: 1
        )
      ]
    )
    expectExpansion(
      "@Entity class C {\n}",
      "class C {\n}",
      diagnostics: [
        DiagnosticSpec(
          message: "The class of an entity must inherit from ManagedObject, or from the class of another entity.",
          line: 1,
          column: 15,
          fixIts: [FixItSpec(message: "Inherit from 'ManagedObject'")]
        )
      ],
      fixed: "@Entity class C: ManagedObject {\n}"
    )
    expectExpansion(
      "@Entity class C: Sendable {\n}",
      "class C: Sendable {\n}",
      diagnostics: [
        DiagnosticSpec(
          message: "The class of an entity must inherit from ManagedObject, or from the class of another entity.",
          line: 1,
          column: 15,
          fixIts: [FixItSpec(message: "Inherit from 'ManagedObject'")]
        )
      ],
      fixed: "@Entity class C: ManagedObject, Sendable {\n}"
    )
    expectExpansion(
      "@Entity(\"a\\(1)\") class C: ManagedObject {\n}",
      "class C: ManagedObject {\n}",
      diagnostics: [
        DiagnosticSpec(message: "The entity's name must be a literal without interpolations.", line: 1, column: 9)
      ]
    )
    expectExpansion(
      "class C: ManagedObject {\n  @Attribute func f() {\n  }\n}",
      "class C: ManagedObject {\n  func f() {\n  }\n}",
      diagnostics: [DiagnosticSpec(message: "@Attribute is for properties of a class.", line: 2, column: 3)]
    )
  }

  @Test("Properties that a condition chooses are shown")
  func conditions() {
    expectExpansion(
      "@Entity class C: ManagedObject {\n  #if DEBUG\n  @Attribute var a: Int?\n  #endif\n}",
      """
      class C: ManagedObject {
        #if DEBUG
        var a: Int? {
          get {
            self[C.aKey]
          }
          set {
            self[C.aKey] = newValue
          }
        }
        #endif
      }
      """,
      diagnostics: [
        DiagnosticSpec(
          message: "@Entity does not know which properties #if chooses. Declare the property for every build.",
          line: 3,
          column: 3
        )
      ]
    )
  }
}
