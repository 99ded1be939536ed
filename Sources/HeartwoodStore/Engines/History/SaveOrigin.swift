/// Who saves, for the history.
package struct SaveOrigin: Sendable {
  var author: String?
  var contextName: String?

  package init(author: String? = nil, contextName: String? = nil) {
    self.author = author
    self.contextName = contextName
  }
}
