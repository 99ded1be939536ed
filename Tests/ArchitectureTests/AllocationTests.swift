import Foundation
import Testing

/// Who allocates raw memory, as `Documentation/Architecture.md` has it.
@Suite struct AllocationTests {
  @Test func whoAllocatesIsListed() throws {
    let rows = try SourceTree.table(under: "Who allocates", in: "Documentation/Architecture.md")
    let listed = Set(rows.flatMap { SourceTree.names($0[0]) })
    var found: Set<String> = []
    for file in try SourceTree.files(in: "Sources") {
      let types = Self.allocatingTypes(in: try SourceTree.lines(of: file))
      let missing = types.subtracting(listed)
      #expect(missing.isEmpty, "\(file): say in Documentation/Architecture.md what \(missing.sorted()) allocates.")
      found.formUnion(types)
    }
    let gone = listed.subtracting(found)
    #expect(gone.isEmpty, "\(gone.sorted()) allocates nothing: take it out of the table.")
  }

  @Test func allocationsAreFoundWithTheirTypes() {
    let source = """
      /// Calls malloc(1).
      package final class A {
        private struct Inner {}
        init() { base = .allocate(capacity: 1) }
      }
      struct B {
        let allocated = 1  // not .allocate(2)
      }
      extension C where Element == Int {
        func f() {
          let base = mmap(nil, 1)
        }
      }
      """
    #expect(Self.allocatingTypes(in: source.split(separator: "\n")) == ["A", "C"])
  }

  /// The outermost types whose code asks for memory.
  private static func allocatingTypes(in lines: [Substring]) -> Set<String> {
    let declaration = #/^(?:@\w+(?:\([^)]*\))?\ |[a-z]+\ )*?(?:actor|class|enum|extension|struct)\ (\w+)/#
    let allocation = #/\.allocate\(|\b(?:malloc|calloc|mmap)\(/#
    var types: Set<String> = []
    var type = ""
    for line in lines {
      if let match = try? declaration.prefixMatch(in: line) { type = String(match.1) }
      if SourceTree.code(line).contains(allocation) { types.insert(type) }
    }
    return types
  }
}
