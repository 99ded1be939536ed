/// Sorts consecutive marks that are kept into Unicode's canonical order, and composes them with their letter to one
/// scalar if Unicode has one.
struct LetterComposition {
  /// The last letter, if it may compose with what follows.
  private var letter: Unicode.Scalar?
  /// The marks after the letter.
  private var waiting: [(scalar: Unicode.Scalar, combiningClass: UInt8)] = []
  private var isOrdered = true

  mutating func add(mark scalar: Unicode.Scalar, _ combiningClass: UInt8) {
    if let last = waiting.last, last.combiningClass > combiningClass { isOrdered = false }
    waiting.append((scalar, combiningClass))
  }

  /// Takes a letter, unless nothing that follows can compose with it. Everything before it may be appended in any case.
  ///
  /// - Returns: whether the letter was taken.
  mutating func add(letter scalar: Unicode.Scalar, to folded: inout [UInt8]) -> Bool {
    if letter != nil || !waiting.isEmpty {
      compose()
      if waiting.isEmpty, let letter, let both = CanonicalCompositions.composition(of: letter, scalar) {
        self.letter = both
        return true
      }
      append(to: &folded)
    }
    guard CanonicalCompositions.canBegin(scalar) else { return false }
    letter = scalar
    return true
  }

  /// Appends everything that was taken.
  @inline(__always)
  mutating func flush(to folded: inout [UInt8]) {
    if waiting.isEmpty, letter == nil { return }
    compose()
    append(to: &folded)
  }

  private mutating func append(to folded: inout [UInt8]) {
    if let letter { folded.append(contentsOf: UTF8.encode(letter).map(Array.init) ?? []) }
    for (scalar, _) in waiting { folded.append(contentsOf: UTF8.encode(scalar).map(Array.init) ?? []) }
    letter = nil
    waiting.removeAll(keepingCapacity: true)
  }

  /// Composes the letter with the marks that compose with it. A mark does not if another mark of its class stays before
  /// it.
  private mutating func compose() {
    if waiting.isEmpty { return }
    if !isOrdered { order() }
    guard var composed = letter else { return }
    var staying: [(scalar: Unicode.Scalar, combiningClass: UInt8)] = []
    for mark in waiting {
      if staying.last?.combiningClass != mark.combiningClass,
        let both = CanonicalCompositions.composition(of: composed, mark.scalar)
      {
        composed = both
      } else {
        staying.append(mark)
      }
    }
    letter = composed
    waiting = staying
  }

  /// Sorts the marks by class, and keeps the order within a class. It sorts all at once, since a text may consist of
  /// marks only.
  private mutating func order() {
    let byClass = Dictionary(grouping: waiting, by: \.combiningClass)
    waiting = byClass.sorted { $0.key < $1.key }.flatMap(\.value)
    isOrdered = true
  }
}

// MARK: CanonicalCompositions

/// The pairs of scalars that compose to one by Unicode's canonical decompositions, unless a part is a mark that is
/// ignored.
enum CanonicalCompositions {
  /// Returns the scalar that is equivalent to both; nil if there is none.
  static func composition(of first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
    if let syllable = hangul(first.value, second.value) { return syllable }
    return pairs[key(first, second)]
  }

  /// Returns whether a scalar may compose with what follows.
  static func canBegin(_ scalar: Unicode.Scalar) -> Bool {
    // There is none before Devanagari, nor among Han characters.
    if scalar.value < 0x900 || (0x3400...0x9FFF).contains(scalar.value) { return false }
    return isOpenSyllable(scalar.value) || leading.contains(scalar.value) || firsts.contains(scalar)
  }

  // MARK: Hangul

  private static let syllables: ClosedRange<UInt32> = 0xAC00...0xD7A3
  private static let leading: Range<UInt32> = 0x1100..<0x1113
  private static let vowels: Range<UInt32> = 0x1161..<0x1176
  /// The first one stands for no trailing consonant.
  private static let trailing: Range<UInt32> = 0x11A7..<0x11C3

  /// Composes a Hangul syllable. The syllables are in the order of their parts.
  private static func hangul(_ first: UInt32, _ second: UInt32) -> Unicode.Scalar? {
    if leading.contains(first), vowels.contains(second) {
      let place = (first - leading.lowerBound) * UInt32(vowels.count) + (second - vowels.lowerBound)
      return Unicode.Scalar(syllables.lowerBound + place * UInt32(trailing.count))
    }
    guard isOpenSyllable(first), trailing.dropFirst().contains(second) else { return nil }
    return Unicode.Scalar(first + second - trailing.lowerBound)
  }

  /// Returns whether the scalar is a Hangul syllable that ends with its vowel.
  private static func isOpenSyllable(_ code: UInt32) -> Bool {
    syllables.contains(code) && (code - syllables.lowerBound).isMultiple(of: UInt32(trailing.count))
  }

  // MARK: Others

  private static func key(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> UInt64 {
    UInt64(first.value) << 32 | UInt64(second.value)
  }

  private static let pairs: [UInt64: Unicode.Scalar] = {
    let staying = CanonicalDecompositions.all.filter { $0.parts.count > 1 && $0.parts.allSatisfy(TextFolding.stays) }
    var pairs: [UInt64: Unicode.Scalar] = [:]
    // A scalar of three parts is composed of one with two parts and the third.
    for (scalar, parts) in staying.sorted(by: { $0.parts.count < $1.parts.count }) {
      let first = parts[1..<(parts.count - 1)].reduce(parts[0]) { pairs[key($0, $1)] ?? $0 }
      pairs[key(first, parts[parts.count - 1])] = scalar
    }
    return pairs
  }()

  private static let firsts: Set<Unicode.Scalar> = Set(pairs.keys.compactMap { Unicode.Scalar(UInt32($0 >> 32)) })
}
