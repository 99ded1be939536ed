import ArgumentParser
import HeartwoodRecordText
import Heartwood
import HeartwoodModelFiles
import HeartwoodFoundation
import HeartwoodGeneration

struct GenerateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate",
    abstract: "Generates Swift classes for the entities of a model.",
    discussion: """
      Each entity gets a machine file, _ToDo.swift, which is overwritten by each run, and a human file, ToDo.swift, which \
      is made once and then yours to edit. One more file contains the model itself and the list of its classes. With \
      --machine-only, there is one class for each entity and no human file.

      An attribute with swiftType in its user info gets that type: an enumeration with raw values that is an \
      AttributeValue, or a CodableAttributeValue. An attribute with a value transformer gets the type in transformedType \
      of its user info.

      Templates use a small part of the Mustache language; --print-templates prints the default ones.

      A file that is overwritten begins with a line that says so; other files of the same name are never replaced. A class \
      that --machine-only has made is replaced by a human file.

      Each printed line begins with made, updated, kept (a human file), or orphaned: a file that an earlier run has made \
      for an entity that no longer exists. Files that would not change are not written.

      EXAMPLE
        heartwood generate ToDo.xcdatamodeld --output Sources/ToDo/Model
      """
  )

  enum Access: String, ExpressibleByArgument, CaseIterable {
    case `internal`, package, `public`

    var level: GenerationOptions.AccessLevel {
      switch self {
      case .internal: .internal
      case .package: .package
      case .public: .public
      }
    }
  }

  @Argument(help: "The model, or a store that holds one.", completion: .file())
  var model: String?

  @Option(help: "The version of the model in a bundle. By default, the current one.")
  var modelVersion: String?

  @Option(help: "The folder for the files.", completion: .directory)
  var output: String?

  @Option(
    help:
      "One file for all classes, in place of a folder: for build tools, which must know the names of files."
  )
  var outputFile: String?

  @Option(help: "The class that the classes inherit from.")
  var baseClass = "ManagedObject"

  @Option(
    help:
      "The access level of the classes: internal, package or public. With package, the imports of the target need an access level, or the feature InternalImportsByDefault."
  )
  var access = Access.internal

  @Option(
    name: .customLong("import"),
    help: "A module to import, such as the base class's. It may be given several times."
  )
  var imports: [String] = []

  @Option(help: "The template of machine files.", completion: .file())
  var machineTemplate: String?

  @Option(help: "The template of human files.", completion: .file())
  var humanTemplate: String?

  @Flag(help: "Make one class for each entity, in files that are overwritten.")
  var machineOnly = false

  @Flag(help: "Print nothing.")
  var quiet = false

  @Flag(help: "Print the default templates, and do nothing else.")
  var printTemplates = false

  func validate() throws {
    guard !printTemplates else { return }
    if model == nil { throw ValidationError("Missing expected argument '<model>'.") }
    if (output == nil) == (outputFile == nil) { throw ValidationError("Give either --output or --output-file.") }
    if output == "-" || outputFile == "-" { throw ValidationError("“-” is not a name: classes are written to files.") }
    if let humanTemplate, machineOnly || outputFile != nil {
      throw ValidationError(
        "--human-template is for human files, and \(machineOnly ? "--machine-only" : "--output-file") makes none: leave \(humanTemplate) out."
      )
    }
    for name in [baseClass] + imports where !Self.isName(name) {
      throw ValidationError("“\(name)” is not the name of a class or a module.")
    }
  }

  /// Returns whether a text is a Swift name, with or without modules.
  private static func isName(_ text: String) -> Bool {
    text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
      !(part.first?.isNumber ?? true) && part.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        && !SwiftText.isReserved(String(part))
    }
  }

  func run() throws {
    if printTemplates { return try StandardOutput.write(Template.machineText + "\n" + Template.humanText) }
    guard let model else { return }
    let located = try ModelArguments.load(model, version: modelVersion)
    if !quiet { located.tellNotes() }
    let generator = CodeGenerator(
      located.model,
      named: Self.name(ofModelAt: URL(argument: model)),
      options: try options(located)
    )
    let lines = try write(generator)
    guard !quiet else { return }
    try StandardOutput.report(
      lines.map { DisplayText.safe($0) + "\n" }.joined(),
      of: "The classes were written",
      at: outputFile ?? output ?? "."
    )
  }

  /// Returns the name of a model. If the path refers to a file in a bundle, it is the name of the bundle.
  private static func name(ofModelAt url: URL) -> String {
    let folder = url.absoluteURL.deletingLastPathComponent()
    let isInBundle = url.pathExtension.isEmpty && folder.pathExtension == "xcdatamodel"
    return (isInBundle ? folder : url).deletingPathExtension().lastPathComponent
  }

  private func write(_ generator: CodeGenerator) throws -> [String] {
    if let outputFile {
      let url = URL(argument: outputFile)
      let folder = OutputFolder(path: url.deletingLastPathComponent().path)
      return try folder.write([try generator.file(named: url.lastPathComponent)])
    }
    let folder = OutputFolder(path: output ?? ".")
    return try folder.write(try generator.files()) + folder.orphans(of: generator)
  }

  private func options(_ located: LocatedModel) throws -> GenerationOptions {
    var options = GenerationOptions()
    options.baseClass = baseClass
    options.accessLevel = access.level
    options.imports = imports
    options.hasHumanFiles = !machineOnly && outputFile == nil
    options.scalarAttributes = located.file?.scalarAttributes ?? []
    options.machineTemplate = try machineTemplate.map(Self.template)
    options.humanTemplate = try humanTemplate.map(Self.template)
    return options
  }

  private static func template(_ path: String) throws -> Template {
    do {
      return try Template(String(contentsOfFile: path, encoding: .utf8), named: path)
    } catch let error as CocoaError
      where [.fileReadCorruptFile, .fileReadInapplicableStringEncoding].contains(error.code)
    {
      throw ToolError(at: path, "The template is not UTF-8. Save it in that encoding.")
    }
  }
}
