/// The sum of numbers of any kind, to which more can be added in any order.
///
/// Integers are added exactly, and only their whole sum has to fit; where it does not, it becomes a double.
package struct NumberSum: Sendable {
  private var integers: Int128 = 0
  private var others: NumericValue?

  package init() {}

  package mutating func add(_ number: NumericValue) {
    if case .integer(let integer) = number {
      integers += Int128(integer)
      return
    }
    others = others.map { NumericValue.apply(.add, $0, number) ?? $0 } ?? number
  }

  /// Adds a sum of integers.
  package mutating func add(_ sum: Int128) { integers += sum }

  /// Adds a sum of doubles.
  package mutating func add(_ sum: Double) { add(.double(sum)) }

  mutating func add(_ sum: NumberSum) {
    integers += sum.integers
    if let others = sum.others { add(others) }
  }

  package var value: NumericValue {
    let whole = Int64(exactly: integers).map(NumericValue.integer) ?? .double(Double(integers))
    return others.map { NumericValue.apply(.add, $0, whole) ?? $0 } ?? whole
  }
}
