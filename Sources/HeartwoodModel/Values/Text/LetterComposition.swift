/// Brings marks that follow each other, and that stay, into the order in which Unicode calls strings equivalent, and makes one scalar of
/// what stays together.
struct LetterComposition {
  /// The last letter, where it may make one with what follows.
  private var letter: Unicode.Scalar?
  /// The marks behind it.
  private var waiting: [(scalar: Unicode.Scalar, combiningClass: UInt8)] = []
  private var isOrdered = true

  mutating func add(mark scalar: Unicode.Scalar, _ combiningClass: UInt8) {
    if let last = waiting.last, last.combiningClass > combiningClass { isOrdered = false }
    waiting.append((scalar, combiningClass))
  }

  /// Takes a letter, unless nothing can follow it with which it would be one. What came before is appended then in any case.
  ///
  /// - Returns: whether it was taken.
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

  /// Appends all that was taken.
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

  /// Makes one of the letter and the marks that compose with it. A mark does not where another of its class stays before it.
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

  /// Marks of one class stay in their order. All at once, since a text may have nothing but marks.
  private mutating func order() {
    let byClass = Dictionary(grouping: waiting, by: \.combiningClass)
    waiting = byClass.sorted { $0.key < $1.key }.flatMap(\.value)
    isOrdered = true
  }
}
