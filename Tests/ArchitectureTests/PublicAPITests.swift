import Foundation
import Testing

/// Stores, and an observer of operations, that use nothing but the public API of the modules below them, as those of
/// another package do: what they can do, any author can.
///
/// The compiler proves it. A target with `packageAccess: false` is compiled without the name of the package, so every
/// `package` declaration of another module is invisible to it, and its own modifier `package` is an error. These tests
/// keep the ways around that shut.
@Suite struct PublicAPITests {
  private static let targets: Set<String> = ["HeartwoodMetrics", "HeartwoodPostgreSQL", "HeartwoodSQLite"]

  @Test func targetsAreCompiledWithoutPackageAccess() throws {
    let manifest = try SourceTree.text("Package.swift")
    #expect(Self.targetsWithoutPackageAccess(in: manifest) == Self.targets)
  }

  @Test func targetsWithoutPackageAccessAreFound() {
    let manifest = """
        targets: [
          .target(name: "A", swiftSettings: settings),
          // packageAccess: false
          .target(
            name: "B",
            dependencies: ["A"],
            packageAccess: false,
            swiftSettings: settings
          ),
          .target(name: "C", packageAccess: true),
        ]
      """
    #expect(Self.targetsWithoutPackageAccess(in: manifest) == ["B"])
  }

  /// An interface for certain modules would be another door that authors do not have. Formats may have one for what two
  /// modules know of Core Data's files, because that concerns no other store.
  @Test(arguments: ["HeartwoodFoundation", "HeartwoodModel", "HeartwoodStore"])
  func modulesForAuthorsHaveNoInterfaceForOthers(_ module: String) throws {
    for file in try SourceTree.files(in: "Sources/\(module)") {
      for line in try SourceTree.lines(of: file) {
        #expect(!SourceTree.code(line).contains("@_spi"), "\(file): make it public, or do without it")
      }
    }
  }

  /// The file formats still read columns with `package` declarations of the store. Nothing of theirs is `package`: what
  /// other modules need of Core Data's files is in the interface for these.
  @Test func formatsDeclareNothingForThePackage() throws {
    for file in try SourceTree.files(in: "Sources/HeartwoodFormats") {
      for line in try SourceTree.lines(of: file) {
        let isPackage = SourceTree.code(line).contains(/^\s*package\s/)
        #expect(!isPackage, "\(file): make it public, internal, or @_spi(CoreDataFiles)")
      }
    }
  }

  @Test(arguments: targets.sorted()) func targetsImportNoInternals(_ module: String) throws {
    for file in try SourceTree.files(in: "Sources/\(module)") {
      for line in try SourceTree.lines(of: file) {
        #expect(!SourceTree.code(line).contains("@testable"), "\(file)")
      }
    }
  }

  private static func targetsWithoutPackageAccess(in manifest: String) -> Set<String> {
    let code = manifest.split(separator: "\n").map { SourceTree.code($0) }.joined(separator: "\n")
    let blocks = code.split(separator: /(?m)^    \.(?=\w+\()/)
    return Set(
      blocks.filter { $0.contains("packageAccess: false") }.compactMap { block in
        block.firstMatch(of: /name: "(\w+)"/).map { String($0.1) }
      }
    )
  }
}
