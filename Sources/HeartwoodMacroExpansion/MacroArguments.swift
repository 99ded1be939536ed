import SwiftDiagnostics
import SwiftSyntax

/// The arguments of a macro, as they are written.
struct MacroArguments {
  /// The arguments without a label, in order.
  let unlabeled: [ExprSyntax]
  private let labeled: [String: ExprSyntax]

  init(_ attribute: AttributeSyntax) {
    guard case .argumentList(let list) = attribute.arguments else {
      unlabeled = []
      labeled = [:]
      return
    }
    // The arguments of a variadic parameter have no labels either, except the first.
    unlabeled = list.filter { $0.label == nil }.map(\.expression)
    labeled = Dictionary(
      list.compactMap { argument in argument.label.map { ($0.text, argument.expression) } },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// Returns the argument with a label.
  subscript(label: String) -> ExprSyntax? { labeled[label] }

  /// Returns whether `.name` is one of the arguments without a label.
  func has(_ name: String) -> Bool { option(name) != nil }

  /// Returns the argument `.name`.
  func option(_ name: String) -> ExprSyntax? {
    unlabeled.first { $0.as(MemberAccessExprSyntax.self)?.declName.baseName.text == name }
  }

  /// Checks that each argument without a label is written as `.name`: a macro cannot evaluate other expressions.
  func checkOptions() throws(MacroFault) {
    for argument in unlabeled {
      if let access = argument.as(MemberAccessExprSyntax.self), access.base == nil { continue }
      throw MacroFault(
        "computedOption",
        "A macro sees only the source text: write the option as .name.",
        at: argument
      )
    }
  }

  /// Returns the source text of an argument.
  func text(_ label: String) -> String? { labeled[label]?.trimmedDescription }
}

extension ExprSyntax {
  /// Whether the expression is a string literal without interpolations.
  var isPlainText: Bool {
    self.as(StringLiteralExprSyntax.self)?.segments.allSatisfy { $0.is(StringSegmentSyntax.self) } ?? false
  }

  /// Returns the text of the expression, converted to `type` with `as`.
  func typed(_ type: String) -> String {
    let text = trimmedDescription
    let isSimple =
      [.memberAccessExpr, .functionCallExpr, .nilLiteralExpr, .arrayExpr, .dictionaryExpr, .declReferenceExpr].contains(
        kind
      )
      || (self.is(PrefixOperatorExprSyntax.self)) || isLiteral
    return isSimple ? "\(text) as \(type)" : "(\(text)) as \(type)"
  }

  private var isLiteral: Bool {
    [.stringLiteralExpr, .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr].contains(kind)
  }
}

/// The text of a call to generate.
struct CallText {
  private var arguments: [String] = []

  init(_ first: String? = nil) {
    if let first { arguments.append(first) }
  }

  /// Adds an argument, unless `text` is nil.
  mutating func add(_ label: String, _ text: String?) {
    if let text { arguments.append("\(label): \(text)") }
  }

  /// Adds an argument that is `true`, if `flag` is true.
  mutating func add(_ label: String, if flag: Bool) {
    if flag { arguments.append("\(label): true") }
  }

  /// Returns `name(…)`.
  func call(_ name: String) -> String { "\(name)(\(arguments.joined(separator: ", ")))" }
}

// MARK: MacroFault

/// An error in the code that a macro is attached to, and its fix-its.
struct MacroFault: Error {
  /// A fix-it.
  struct Mend {
    let message: String
    let old: Syntax
    let new: Syntax

    init(_ message: String, replacing old: some SyntaxProtocol, by new: some SyntaxProtocol) {
      self.message = message
      self.old = Syntax(old)
      self.new = Syntax(new)
    }
  }

  let id: String
  let message: String
  let node: Syntax
  let mends: [Mend]

  init(_ id: String, _ message: String, at node: some SyntaxProtocol, mends: [Mend] = []) {
    self.id = id
    self.message = message
    self.node = Syntax(node)
    self.mends = mends
  }

  /// The diagnostic for the compiler.
  var diagnostic: Diagnostic {
    Diagnostic(
      node: node,
      message: Message(message: message, diagnosticID: Self.messageID(id)),
      fixIts: mends.map { mend in
        FixIt(
          message: FixItText(message: mend.message, fixItID: Self.messageID(id + "FixIt")),
          changes: [.replace(oldNode: mend.old, newNode: mend.new)]
        )
      }
    )
  }

  private static func messageID(_ id: String) -> MessageID { MessageID(domain: "HeartwoodMacros", id: id) }

  private struct Message: DiagnosticMessage {
    let message: String
    let diagnosticID: MessageID
    var severity: DiagnosticSeverity { .error }
  }

  private struct FixItText: FixItMessage {
    let message: String
    let fixItID: MessageID
  }
}
