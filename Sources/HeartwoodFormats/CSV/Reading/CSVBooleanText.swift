/// Booleans as text.
enum CSVBooleanText {
  /// The boolean that a word stands for, in capitals or small letters; nil where it is none.
  static func boolean(_ text: UnsafeRawBufferPointer) -> Bool? {
    guard text.count <= 5 else { return nil }
    switch String(decoding: text, as: UTF8.self).lowercased() {
    case "1", "true", "yes": return true
    case "0", "false", "no": return false
    default: return nil
    }
  }
}
