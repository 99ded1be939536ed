import Heartwood

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What records may be called, in an order that no sorting would give.
enum ReferenceNames {
  static func samples(of kind: StoreCapabilities.ReferenceKind) -> [ReferenceID] {
    switch kind {
    case .integer: [7, 1, .max - 1, -5, 0, .min, 1 << 40].map(ReferenceID.integer)
    case .uuid: (0..<7).map { .uuid(uuid(seed: $0)) }
    case .string: words.map(ReferenceID.string)
    }
  }

  /// Strings that look like names of other kinds, and all that mean something in some format.
  private static let words = lookalikes + EdgeValues.strings.filter { !$0.isEmpty && !lookalikes.contains($0) }

  private static let lookalikes = [
    "b", "B", "42", "-1", "'42", "''", "042", "E899556C-BE1A-42A3-A634-F8411915C05F",
    "e899556c-be1a-42a3-a634-f8411915c05f", "a/b", "../a", "a b",
  ]

  private static func uuid(seed: UInt64) -> UUID {
    var generator = SeededGenerator(seed: seed)
    return generator.nextUUID()
  }
}
