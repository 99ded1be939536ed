import SwiftDiagnostics
import SwiftSyntax

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
