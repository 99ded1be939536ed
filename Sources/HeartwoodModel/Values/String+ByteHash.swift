extension String {
  /// Hashes the bytes of the text, for values that are equal when their bytes are.
  ///
  /// A string's own hash is the same for all strings that Unicode calls equivalent: whoever knows that could choose many that differ and
  /// collide.
  package func hashBytes(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    // No UTF-8 has this byte, so that two texts behind each other are not taken for others.
    hasher.combine(UInt8.max)
  }
}
