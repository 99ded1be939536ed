/// Where a value is in a record: a key, or keys of records in each other with dots between them.
struct ImportKeyPath {
  let text: String
  private let keys: [String]

  init(_ text: String) {
    self.text = text
    keys = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }

  /// The value there; nil where there is none. A key that has the dots itself comes first.
  func value(in record: ImportValue) -> ImportValue? {
    if keys.count == 1 { return record[text] }
    if let value = record[text] { return value }
    var value: ImportValue? = record
    for key in keys { value = value?[key] }
    return value
  }
}
