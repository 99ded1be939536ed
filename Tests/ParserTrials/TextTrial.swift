import HeartwoodModel

/// Reads what people write: predicates, and URIs of objects.
enum TextTrial {
  static func readPredicate(_ bytes: [UInt8]) throws {
    let predicate = try FetchPredicate(format: String(decoding: bytes, as: UTF8.self))
    let text = predicate.description
    let again = try? FetchPredicate(format: text)
    try ParserTrial.predicate.expect(again?.description == text, "reads \(text) as \(again?.description ?? "nothing")")
    let model = try TrialModel.model.get()
    _ = try PredicateCompiler.compile(predicate, for: model.entities[0], in: model)
  }

  static func readURI(_ bytes: [UInt8]) throws {
    guard let uri = ObjectURI(text: String(decoding: bytes, as: UTF8.self)) else { return }
    try ParserTrial.objectURI.expect(ObjectURI(text: uri.text) == uri, "reads \(uri.text) as another URI")
    try ParserTrial.objectURI.expect(ObjectURI(uri.url) == uri, "makes another URL of \(uri.text)")
  }
}
