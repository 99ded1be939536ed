import SwiftDiagnostics
import SwiftSyntax

/// The arguments of a macro as they are written.
struct MacroArguments {
  /// Those without a label, in their order.
  let unlabeled: [ExprSyntax]
  private let labeled: [String: ExprSyntax]

  init(_ attribute: AttributeSyntax) {
    guard case .argumentList(let list) = attribute.arguments else {
      unlabeled = []
      labeled = [:]
      return
    }
    // A parameter without a label goes on with arguments without any.
    unlabeled = list.filter { $0.label == nil }.map(\.expression)
    labeled = Dictionary(
      list.compactMap { argument in argument.label.map { ($0.text, argument.expression) } },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// The argument with a label.
  subscript(label: String) -> ExprSyntax? { labeled[label] }

  /// Whether `.name` is one of the arguments without a label.
  func has(_ name: String) -> Bool { option(name) != nil }

  /// The argument `.name`.
  func option(_ name: String) -> ExprSyntax? {
    unlabeled.first { $0.as(MemberAccessExprSyntax.self)?.declName.baseName.text == name }
  }

  /// Makes sure that each argument without a label is written as `.name`: a macro cannot know what else stands for.
  func checkOptions() throws(MacroFault) {
    for argument in unlabeled {
      if let access = argument.as(MemberAccessExprSyntax.self), access.base == nil { continue }
      throw MacroFault(
        "computedOption",
        "A macro sees only what is written: write the option as .name.",
        at: argument
      )
    }
  }

  /// The text of an argument, to be passed on.
  func text(_ label: String) -> String? { labeled[label]?.trimmedDescription }
}

extension ExprSyntax {
  /// Whether it is a string literal in which nothing is put in.
  var isPlainText: Bool {
    self.as(StringLiteralExprSyntax.self)?.segments.allSatisfy { $0.is(StringSegmentSyntax.self) } ?? false
  }

  /// The expression as one of `type`.
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

/// The arguments of a call that is being written.
struct CallText {
  private var arguments: [String] = []

  init(_ first: String? = nil) {
    if let first { arguments.append(first) }
  }

  /// Adds an argument, where there is one.
  mutating func add(_ label: String, _ text: String?) {
    if let text { arguments.append("\(label): \(text)") }
  }

  /// Adds an argument that is `true`, where it is.
  mutating func add(_ label: String, if flag: Bool) {
    if flag { arguments.append("\(label): true") }
  }

  /// `name(…)`.
  func call(_ name: String) -> String { "\(name)(\(arguments.joined(separator: ", ")))" }
}

// MARK: MacroFault

/// What is wrong with the code that a macro is applied to, and how it can be mended.
struct MacroFault: Error {
  /// What a fix-it does.
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

  /// What the compiler shows.
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
