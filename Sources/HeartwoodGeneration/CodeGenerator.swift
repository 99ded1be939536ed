import HeartwoodFoundation
public import HeartwoodModel

/// Generates Swift classes for the entities of a model. The same model always gives the same text.
///
///     let files = try CodeGenerator(model, named: "ToDo").files()
///
/// Nothing is written to the disk.
public struct CodeGenerator: Sendable {
  private let model: ManagedObjectModel
  private let modelName: String
  private let options: GenerationOptions

  /// Creates a generator for a model.
  ///
  /// - Parameter modelName: the name of the model, in the name of the type that contains the model and in comments.
  public init(_ model: ManagedObjectModel, named modelName: String, options: GenerationOptions = GenerationOptions()) {
    self.model = model
    self.modelName = modelName
    self.options = options
  }

  /// Returns the generated files, sorted by name.
  ///
  /// - Throws: ``GenerationError`` if two entities need the same class, or if a class cannot have the name of an
  ///   entity, and ``TemplateError`` if a template cannot be rendered.
  public func files() throws -> [GeneratedFile] {
    let classes = try classes()
    let human = try options.humanTemplate ?? Template(Template.humanText)
    let humanFiles = try (options.hasHumanFiles ? classes : []).map { entity in
      let contents = LineBreaking.applied(to: try human.render(entity.values()))
      return GeneratedFile(name: entity.className + ".swift", contents: contents, kind: .human)
    }
    return try (machineFiles(classes) + humanFiles).sorted { $0.name < $1.name }
  }

  /// Returns a single file with everything, for build tools, which need to know the names of files in advance.
  ///
  /// - Throws: the errors of ``files()``.
  public func file(named name: String) throws -> GeneratedFile {
    let classes = try classes()
    // All imports of a module in a file need the same access level.
    let modules = classes.reduce(into: ["Heartwood"] as Set) { $0.formUnion($1.declaredModules) }
    let files = try machineFiles(classes, besides: modules).sorted { $0.name < $1.name }
    let contents = files.map(\.contents).joined(separator: "\n")
    return GeneratedFile(name: name, contents: contents, kind: .machine)
  }

  /// Returns the names of files in a folder that an earlier run has generated and that this model no longer needs:
  /// files that begin with ``GeneratedFile/header``, and the human files that belong to them.
  ///
  /// - Parameter firstLines: the first line of each file in the folder, by name.
  public func orphans(among firstLines: [String: String]) throws -> [String] {
    let names = Set(try files().map(\.name))
    let machine = firstLines.filter { $0.value == GeneratedFile.header && !names.contains($0.key) }.map(\.key)
    let human = machine.filter { $0.hasPrefix("_") }.map { String($0.dropFirst()) }
      .filter { firstLines[$0] != nil && !names.contains($0) }
    return (machine + human).sorted()
  }

  private func classes() throws -> [EntityClass] {
    let classes = try model.entities.map { try EntityClass($0, of: model, options: options) }
    try checkNames(classes)
    return classes
  }

  /// - Parameter fileModules: the modules whose types are used in declarations elsewhere in the same file, if
  ///   everything is written to one file.
  private func machineFiles(
    _ classes: [EntityClass],
    besides fileModules: Set<String> = []
  ) throws -> [GeneratedFile] {
    let template = try options.machineTemplate ?? Template(Template.machineText)
    let files = try classes.map { entity in
      let contents = Self.marked(try template.render(entity.values(besides: fileModules)))
      return GeneratedFile(
        name: entity.machineClassName + ".swift",
        contents: LineBreaking.applied(to: contents),
        kind: .machine
      )
    }
    let contents = try modelFile(classes, besides: fileModules)
    return files + [GeneratedFile(name: typeName + ".swift", contents: contents, kind: .machine)]
  }

  /// Adds the header of generated files to `contents`, if a custom template has left it out.
  private static func marked(_ contents: String) -> String {
    contents.hasPrefix(GeneratedFile.header) ? contents : GeneratedFile.header + "\n" + contents
  }

  /// The types that the generated code of any model uses.
  private static let usedTypes: Set<String> = [
    "AnyKeyPath", "AttributeKey", "Data", "FetchArgument", "FetchPredicate", "FetchRequest", "ManagedObject",
    "ManagedObjectContext",
    "ManagedObjectModel", "RelatedList", "RelatedSet", "String", "ToManyKey", "ToOneKey", "TransformedKey",
  ]

  private func checkNames(_ classes: [EntityClass]) throws(GenerationError) {
    if Self.usedTypes.contains(typeName) {
      throw GenerationError(
        description:
          "The classes of the model \(modelName) need a type called \(typeName), which is one of Heartwood's. Give the model another name."
      )
    }
    let usedTypes = Self.usedTypes.union(classes.flatMap(\.attributeTypes))
    var owners: [String: String] = [typeName: "the model"]
    for entity in classes {
      let names = entity.typeNames
      try checkHidesNothing(names, of: entity.entity.name, usedTypes)
      for name in names {
        guard let other = owners.updateValue(entity.entity.name, forKey: name) else { continue }
        throw GenerationError(
          description:
            "The entity \(entity.entity.name) and \(other) both need a type called \(name). Give one another class."
        )
      }
    }
  }

  private func checkHidesNothing(_ names: [String], of entityName: String, _ usedTypes: Set<String>)
    throws(GenerationError)
  {
    guard let name = names.first(where: usedTypes.contains) else { return }
    throw GenerationError(
      description:
        "The class \(name) of the entity \(entityName) would hide a type that the classes use. Give it another class."
    )
  }

  // MARK: The model

  private var typeName: String {
    let name = SwiftText.name(of: modelName)
    return name.hasSuffix("Model") ? name : name + "Model"
  }

  private func modelFile(_ classes: [EntityClass], besides fileModules: Set<String>) throws -> String {
    let json = String(decoding: try model.encoded(), as: UTF8.self)
    return try Template(Template.modelText).render([
      "header": .text(GeneratedFile.header),
      "imports": .list(
        EntityClass.imports(["Foundation", "Heartwood"], declared: fileModules.union(["Heartwood"]), options)
      ),
      "modelName": .text(SwiftText.comment(modelName)),
      "typeName": .text(typeName),
      "access": .text(options.accessLevel.modifier),
      // swift-format removes the trailing comma of an array with one element.
      "classes": .list(
        classes.map { ["className": .text($0.className), "comma": .text(classes.count > 1 ? "," : "")] }
      ),
      "json": .text(SwiftText.literal(json)),
    ])
  }
}

// MARK: GenerationOptions

/// The options for the generation of classes.
public struct GenerationOptions: Sendable {
  /// The access level of the classes. The raw value is the Swift keyword.
  public enum AccessLevel: String, Sendable, Hashable, CaseIterable {
    case `internal`, package, `public`

    /// The access modifier of a declaration, with a space.
    var modifier: String { self == .internal ? "" : rawValue + " " }

    /// The access modifier of an import that no declaration needs. In a file with a `package import`, an import without
    /// a modifier would be an error in targets whose imports are not internal by default.
    /// level would be an error in targets whose imports are not internal by default.
    var plainImportModifier: String { self == .package ? "internal " : "" }
  }

  /// The superclass of the classes of entities that have no parent.
  public var baseClass = "ManagedObject"
  /// The access level of the classes.
  public var accessLevel = AccessLevel.internal
  /// Whether each class is split in two: a class that is generated again each time, and a subclass for handwritten
  /// code.
  public var hasHumanFiles = true
  /// The modules to import in addition to Heartwood, such as the module of the base class.
  public var imports: [String] = []
  /// The template of the files that are generated again each time; nil for the built-in one.
  public var machineTemplate: Template?
  /// The template of the files that are generated once; nil for the built-in one.
  public var humanTemplate: Template?
  /// The attributes, as `Entity.attribute`, that are optional in the model but have a non-optional Swift type.
  public var scalarAttributes: Set<String> = []

  /// Creates the default options.
  public init() {}
}

/// A generated file, which is not yet written to the disk.
public struct GeneratedFile: Sendable, Hashable {
  /// Whether a file is generated again each time.
  public enum Kind: String, Sendable, Hashable {
    /// A file that every run overwrites.
    case machine
    /// A file that is written once, and then edited by hand.
    case human
  }

  /// The name of the file, without a folder.
  public let name: String
  /// The text of the file.
  public let contents: String
  /// Whether the file is generated again each time.
  public let kind: Kind

  /// Creates a file.
  public init(name: String, contents: String, kind: Kind) {
    self.name = name
    self.contents = contents
    self.kind = kind
  }

  /// The first line of every file that is overwritten.
  public static let header =
    "// Generated by heartwood from the model. Changes are lost: make them in the model, or in another file."
}

/// The error if no classes can be generated.
public struct GenerationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, and what to do.
  public let description: String
}
