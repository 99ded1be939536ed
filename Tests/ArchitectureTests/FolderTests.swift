import Foundation
import Testing

/// The folders, as `Documentation/Architecture.md` has them: every folder of a module has a row.
@Suite struct FolderTests {
  /// The folders of the table, as paths in `Sources`, or in the package for those of tests.
  private static func listed() throws -> [String] {
    let modules = Set(SourceTree.modules)
    return try SourceTree.table(under: "Folders", in: "Documentation/Architecture.md").flatMap { row in
      paths(SourceTree.names(row[0]), modules)
    }
  }

  /// A folder without its module is one of the module before.
  private static func paths(_ names: [String], _ modules: Set<String>) -> [String] {
    var parent = ""
    return names.map { name in
      if modules.contains(name) { return name }
      guard let slash = name.firstIndex(of: "/") else { return "\(parent)/\(name)" }
      parent = String(name[..<slash])
      return name
    }
  }

  /// The folders of a module that have code; the module itself where it has none.
  private static func folders(of module: String) throws -> Set<String> {
    let places = try SourceTree.files(in: "Sources/\(module)").map { $0.split(separator: "/") }
    let folders = places.filter { $0.count > 3 }.map { "\(module)/\($0[2])" }
    return folders.isEmpty ? [module] : Set(folders)
  }

  @Test(arguments: SourceTree.modules)
  func everyFolderHasARow(_ module: String) throws {
    let missing = try Self.folders(of: module).subtracting(Self.listed())
    #expect(missing.isEmpty, "Say in Documentation/Architecture.md what is in \(missing.sorted()).")
  }

  @Test func everyRowHasItsFolder() throws {
    let listed = try Self.listed()
    #expect(Set(listed).count == listed.count)
    for name in listed {
      let path = name.hasPrefix("Tests/") ? name : "Sources/\(name)"
      #expect(FileManager.default.fileExists(atPath: SourceTree.root.appending(path: path).path), "\(path)")
    }
  }

  @Test func foldersWithoutTheirModuleAreOfTheOneBefore() {
    let names = ["A/B", "C", "D", "Tests/E"]
    #expect(Self.paths(names, ["A", "D"]) == ["A/B", "A/C", "D", "Tests/E"])
  }
}
