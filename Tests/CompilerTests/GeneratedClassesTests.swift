import Foundation
import HeartwoodModelFiles
import HeartwoodGeneration
import HeartwoodTesting
import Testing

/// The classes of models are what a strict package accepts: Swift 6, no warning, formatted, and the same each time.
@Suite struct GeneratedClassesTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static let models = [
    "Tests/CompilerTests/Models/Everything.xcdatamodel", "Examples/ToDo/ToDo.xcdatamodeld",
    "Examples/ToDo/Sources/Chores/Chores.xcdatamodeld",
  ]

  /// What the models' user info and the options speak of, as an application has it.
  private static let ownCode = """
    public import Heartwood

    public enum Mood: Int32, AttributeValue {
      case good, bad
      public static let absentValue = good
    }

    public enum Urgency: Int16, AttributeValue {
      case whenever, soon, now
      public static let absentValue = whenever
    }

    public enum Priority: Int16, AttributeValue {
      case normal, high
      public static let absentValue = normal
    }

    public struct Place: CodableAttributeValue {
      public var room = ""
      public static let absentValue = Place()
    }

    public struct Colour {
      public var red = 0
    }

    open class OwnBase: ManagedObject {}

    """

  private func generator(_ path: String, _ options: GenerationOptions) throws -> CodeGenerator {
    let url = Self.root.appending(path: path)
    let file = try DataModelFile(contentsOf: url)
    var options = options
    options.scalarAttributes = file.scalarAttributes
    let name = url.deletingPathExtension().lastPathComponent
    return CodeGenerator(file.model, named: name, options: options)
  }

  private func files(_ path: String, _ options: GenerationOptions) throws -> [GeneratedFile] {
    try generator(path, options).files()
  }

  private static let variants: [GenerationOptions] = {
    var variants = Array(repeating: GenerationOptions(), count: 4)
    variants[1].hasHumanFiles = false
    variants[1].accessLevel = .package
    variants[2].accessLevel = .public
    variants[2].baseClass = "OwnBase"
    variants[3].accessLevel = .package
    return variants
  }()

  @Test(arguments: models, variants.indices)
  func generatedClassesCompile(_ model: String, variant: Int) throws {
    let files = try files(model, Self.variants[variant])
    #expect(try self.files(model, Self.variants[variant]) == files)
    let errors = try written(files, Self.ownCode) { sources, own in
      let faults = try Formatter(configuration: Self.root.appending(path: ".swift-format")).faults(in: sources)
      #expect(faults.isEmpty, "\(faults)")
      return try Compiler().errors(in: sources + [own], isStrict: true)
    }
    #expect(errors.isEmpty, "\(errors)")
  }

  /// As in targets that say nothing of imports: one without a level is public there, and must not stand beside one of the package.
  private static let publicImports = ["-disable-upcoming-feature", "InternalImportsByDefault"]

  @Test(arguments: models, variants.indices)
  func generatedClassesCompileWhereImportsArePublic(_ model: String, variant: Int) throws {
    let errors = try written(try files(model, Self.variants[variant]), Self.ownCode) { sources, own in
      try Compiler().errors(in: sources + [own], isStrict: true, options: Self.publicImports)
    }
    #expect(errors.isEmpty, "\(errors)")
  }

  /// It has the imports of all classes, and each module at one level.
  @Test(arguments: variants.indices, [[], publicImports])
  func theOneFileCompiles(_ variant: Int, _ features: [String]) throws {
    var options = Self.variants[variant]
    options.hasHumanFiles = false
    let file = try generator(Self.models[0], options).file(named: "All.swift")
    let errors = try written([file], Self.ownCode) { sources, own in
      try Compiler().errors(in: sources + [own], isStrict: true, options: features)
    }
    #expect(errors.isEmpty, "\(errors)")
  }

  /// As new applications are set up by Xcode. What the classes speak of is not the main actor's there, either.
  @Test(arguments: models, variants.indices)
  func generatedClassesCompileInTargetsOfTheMainActor(_ model: String, variant: Int) throws {
    let own = Self.ownCode.replacing("public enum", with: "nonisolated public enum")
      .replacing("public struct", with: "nonisolated public struct")
      .replacing("open class", with: "nonisolated open class")
    let errors = try written(try files(model, Self.variants[variant]), own) { sources, own in
      try Compiler().errors(in: sources + [own], isStrict: true, options: ["-default-isolation", "MainActor"])
    }
    #expect(errors.isEmpty, "\(errors)")
  }

  /// What `body` says of files in a folder, and of one more with `own`.
  private func written<Result>(_ files: [GeneratedFile], _ own: String, _ body: ([URL], URL) throws -> Result) throws
    -> Result
  {
    let folder = try ScratchFolder()
    let sources = try files.map { try folder.write($0.contents, to: $0.name) }
    return try body(sources, try folder.write(own, to: "Own.swift"))
  }
}
