import Foundation
import Testing

/// No failure to read or write is hidden by a `try?`: each that stands in the library has its reason, in a comment above it that begins with
/// `try?:`, or in the table here.
@Suite struct HiddenFailureTests {
  private static let modules = [
    "Heartwood", "HeartwoodFormats", "HeartwoodGraph", "HeartwoodModel", "HeartwoodPostgreSQL", "HeartwoodSQLite",
    "HeartwoodStore", "HeartwoodWrappers",
  ]

  /// So many lines above a `try?` its reason may begin.
  private static let distance = 4

  private static let salvage = "what a salvage cannot read is in its report"

  /// Files whose reasons are here: how many `try?` each has, and why they hide nothing.
  private static let allowed: [String: (count: Int, reason: String)] = [
    "Sources/HeartwoodSQLite/Files/ExternalFiles.swift": (
      9, "files that are left over are removed another time, and what a path leads to is found out when it is read"
    ),
    "Sources/HeartwoodSQLite/Reading/SharedScan.swift": (
      1, "where the second connection cannot help, the first one reads all"
    ),
    "Sources/HeartwoodFormats/Binary/Salvage/BinaryRemains.swift": (7, salvage),
    "Sources/HeartwoodFormats/Binary/Salvage/BinarySalvage.swift": (2, salvage),
    "Sources/HeartwoodFormats/PropertyList/Salvage/BinaryPropertyListSalvage.swift": (10, salvage),
    "Sources/HeartwoodFormats/PropertyList/Salvage/PropertyListRemains.swift": (14, salvage),
    "Sources/HeartwoodFormats/PropertyList/Salvage/XMLPropertyListSalvage.swift": (4, salvage),
    "Sources/HeartwoodSQLite/Salvage/SQLiteEntitySalvage.swift": (5, salvage),
    "Sources/HeartwoodSQLite/Salvage/SQLiteStore+Salvaging.swift": (9, salvage),
    "Sources/HeartwoodStore/API/StoreSalvage.swift": (1, salvage),
    "Sources/HeartwoodStore/Engines/Salvage/StoreManager+Salvaging.swift": (1, salvage),
  ]

  private static func hides(_ line: Substring) -> Bool { SourceTree.code(line).firstMatch(of: #/\btry\?\ /#) != nil }

  @Test(arguments: modules)
  func everyOneHasAReason(_ module: String) throws {
    for file in try SourceTree.files(in: "Sources/\(module)") {
      let lines = try SourceTree.lines(of: file)
      let found = lines.indices.filter { Self.hides(lines[$0]) }
      if let allowed = Self.allowed[file] {
        #expect(found.count <= allowed.count, "\(file): try? may stand here \(allowed.count) times: \(allowed.reason)")
        continue
      }
      for number in found {
        let near = lines[max(0, number - Self.distance)..<number]
        #expect(near.contains { $0.contains("// try?: ") }, "\(file):\(number + 1): say what `try?` hides, or throw it")
      }
    }
  }

  /// A reason that has lost its `try?` misleads.
  @Test(arguments: modules)
  func everyReasonIsOfOne(_ module: String) throws {
    for file in try SourceTree.files(in: "Sources/\(module)") {
      let lines = try SourceTree.lines(of: file)
      for (number, line) in lines.enumerated() where line.contains("// try?: ") {
        let near = lines[number..<min(lines.count, number + Self.distance + 1)]
        #expect(near.contains(where: Self.hides), "\(file):\(number + 1): there is no try?")
      }
    }
  }
}
