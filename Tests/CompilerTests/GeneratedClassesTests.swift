import Foundation
import HeartwoodFormats
import HeartwoodGeneration
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

  private func files(_ path: String, _ options: GenerationOptions) throws -> [GeneratedFile] {
    let url = Self.root.appending(path: path)
    let file = try DataModelFile(contentsOf: url)
    var options = options
    options.scalarAttributes = file.scalarAttributes
    let name = url.deletingPathExtension().lastPathComponent
    return try CodeGenerator(file.model, named: name, options: options).files()
  }

  private static let variants: [GenerationOptions] = {
    var variants = Array(repeating: GenerationOptions(), count: 3)
    variants[1].hasHumanFiles = false
    variants[1].accessLevel = .package
    variants[2].accessLevel = .public
    variants[2].baseClass = "OwnBase"
    return variants
  }()

  @Test(arguments: models, variants.indices)
  func generatedClassesCompile(_ model: String, variant: Int) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = try files(model, Self.variants[variant])
    #expect(try self.files(model, Self.variants[variant]) == files)

    var sources: [URL] = []
    for file in files {
      let url = folder.appending(path: file.name)
      try Data(file.contents.utf8).write(to: url)
      sources.append(url)
    }
    let faults = try Formatter(configuration: Self.root.appending(path: ".swift-format")).faults(in: sources)
    #expect(faults.isEmpty, "\(faults)")
    let own = folder.appending(path: "Own.swift")
    try Data(Self.ownCode.utf8).write(to: own)
    let errors = try Compiler().errors(in: sources + [own], isStrict: true)
    #expect(errors.isEmpty, "\(errors)")
  }
}
