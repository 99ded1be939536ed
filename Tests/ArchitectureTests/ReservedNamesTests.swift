import Testing

/// What a property cannot be called is what every managed object has a member for.
@Suite struct ReservedNamesTests {
  /// What `Hashable` adds, and what Swift understands otherwise behind a dot.
  private static let others: Set = ["hash", "hashValue", "init", "self", "Type"]

  @Test(arguments: [
    ("Sources/HeartwoodModel/Model/Validation/ModelReview.swift", "properties"),
    ("Sources/HeartwoodMacroExpansion/EntityClass.swift", "members"),
  ])
  func reservedNamesAreThoseOfMembers(_ file: String, _ list: String) throws {
    let reserved = try Self.list(list, in: SourceTree.text(file))
    let needed = try SourceTree.modules.flatMap { try SourceTree.files(in: "Sources/\($0)") }.reduce(into: Self.others)
    {
      $0.formUnion(Self.members(in: try SourceTree.lines(of: $1)))
    }
    #expect(reserved.subtracting(needed).isEmpty, "\(file): managed objects have no such members")
    #expect(needed.subtracting(reserved).isEmpty, "\(file) lacks these members of managed objects")
  }

  @Test func membersAreFound() {
    let source = """
      open class ManagedObject {
        open class var a: String { "" }
        open func b() {}
        final var c: Int
        public final func d(_ x: Int) {}
      }
      class Other {
        public var e: Int { 0 }
      }
      extension ManagedObject: P {
        public static func f() {}
        public final var g: Int {
          var h = 1
        }
      }
      """
    #expect(Self.members(in: source.split(separator: "\n")) == ["a", "b", "g"])
  }

  /// The public members of managed objects that are named without arguments: properties, those of the class too, and methods of objects.
  private static func members(in lines: [Substring]) -> Set<String> {
    let member = /^  (?:public|open) (?:final )?(?:(?:class )?var (\w+)|func (\w+)\(\))/
    var names: Set<String> = []
    var isInside = false
    for line in lines {
      if line.hasPrefix("}") { isInside = false }
      if line.hasPrefix("open class ManagedObject {") || line.contains(/^extension ManagedObject\b/) { isInside = true }
      guard isInside, let match = line.firstMatch(of: member), let name = match.1 ?? match.2 else { continue }
      names.insert(String(name))
    }
    return names
  }

  /// The strings of a set that is written out.
  private static func list(_ name: String, in source: String) throws -> Set<String> {
    let start = try #require(source.firstRange(of: "let \(name): Set<String> = [")).upperBound
    return Set(source[start...].prefix { $0 != "]" }.matches(of: /"(\w+)"/).map { String($0.1) })
  }
}
