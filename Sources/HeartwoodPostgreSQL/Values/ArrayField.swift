import HeartwoodFoundation

/// Reads arrays in PostgreSQL's binary format.
enum ArrayField {
  /// The length of the number of dimensions, the flag for NULL elements, and the element type.
  private static let headLength = 12
  /// The length of the number of elements and the index of the first one.
  private static let dimensionLength = 8

  /// Returns the fields of an array with one dimension; nil stands for NULL. They are valid as long as `bytes` are.
  static func elements(_ bytes: UnsafeRawBufferPointer) throws(FieldFault) -> [UnsafeRawBufferPointer?] {
    let dimensionCount = try number(bytes, 0)
    if dimensionCount == 0 { return [] }
    guard dimensionCount == 1 else { throw FieldFault("holds an array of \(dimensionCount) dimensions") }
    let count = try number(bytes, headLength)
    var elements: [UnsafeRawBufferPointer?] = []
    var offset = headLength + dimensionLength
    for _ in 0..<max(0, count) {
      let length = try number(bytes, offset)
      offset += MemoryLayout<Int32>.size
      if length < 0 {
        elements.append(nil)
        continue
      }
      guard length <= bytes.count - offset else { throw cut }
      elements.append(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length]))
      offset += length
    }
    return elements
  }

  private static let cut = FieldFault("holds an array that ends within an element")

  private static func number(_ bytes: UnsafeRawBufferPointer, _ offset: Int) throws(FieldFault) -> Int {
    guard offset <= bytes.count - MemoryLayout<Int32>.size else { throw cut }
    return Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
  }
}

extension PostgreSQLRow {
  /// Returns the elements of an array, none of which is NULL.
  func elements<Element>(_ index: Int, _ element: (UnsafeRawBufferPointer) throws -> Element) throws -> [Element] {
    guard let bytes = self[index] else { return [] }
    return try ArrayField.elements(bytes).map { field in
      guard let field else { throw FieldFault("holds an array with an element that is NULL") }
      return try element(field)
    }
  }
}

extension PostgreSQLParameter {
  static func texts(_ texts: some Collection<String>) -> PostgreSQLParameter {
    var elements = ArrayBuilder(.text, capacity: texts.count)
    for text in texts { elements.append { $0.appendField(text.utf8) } }
    return elements.parameter
  }

  static func text(_ text: String?) -> PostgreSQLParameter {
    PostgreSQLParameter(.text, text.map { Array($0.utf8) })
  }
}
