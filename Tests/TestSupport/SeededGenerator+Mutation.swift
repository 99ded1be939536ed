package import Foundation
package import HeartwoodTesting

extension SeededGenerator {
  /// `data` with some bytes changed, left out, doubled or swapped for characters that mean something in XML.
  package mutating func mutated(_ data: Data) -> Data {
    var bytes = [UInt8](data)
    for _ in 0...Int.random(in: 0...3, using: &self) where !bytes.isEmpty {
      let place = Int.random(in: bytes.indices, using: &self)
      switch Int.random(in: 0..<5, using: &self) {
      case 0: bytes[place] = UInt8(truncatingIfNeeded: next())
      case 1: bytes[place] = Array("<>&\"'/=;!-0YN \u{0}".utf8).randomElement(using: &self) ?? 0
      case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...30, using: &self)))
      case 3: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 40)], at: place)
      default: bytes.swapAt(place, Int.random(in: bytes.indices, using: &self))
      }
    }
    return Data(bytes)
  }
}
