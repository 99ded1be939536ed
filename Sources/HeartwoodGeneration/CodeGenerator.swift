import HeartwoodFoundation
public import HeartwoodModel

/// Makes Swift classes of the entities of a model: the same text for the same model.
public struct CodeGenerator: Sendable {
  private let model: ManagedObjectModel
  private let modelName: String
  private let options: GenerationOptions

  /// A generator for `model`, which is called `modelName` where that matters.
  public init(_ model: ManagedObjectModel, named modelName: String, options: GenerationOptions = GenerationOptions()) {
    self.model = model
    self.modelName = modelName
    self.options = options
  }

  /// The files, sorted by name.
  ///
  /// - Throws: ``GenerationError`` where two entities have one class, or a name cannot be one of a class; ``TemplateError``.
  public func files() throws -> [GeneratedFile] {
    let classes = try classes()
    let human = try options.humanTemplate ?? Template(Template.humanText)
    let humanFiles = try (options.hasHumanFiles ? classes : []).map { entity in
      let contents = LineBreaking.applied(to: try human.render(entity.values()))
      return GeneratedFile(name: entity.className + ".swift", contents: contents, kind: .human)
    }
    return try (machineFiles(classes) + humanFiles).sorted { $0.name < $1.name }
  }

  /// One file with everything, for programs that build and must know the names of files.
  ///
  /// - Throws: as ``files()``.
  public func file(named name: String) throws -> GeneratedFile {
    let classes = try classes()
    // A file imports a module at one level of access, however often it does.
    let modules = classes.reduce(into: ["Heartwood"] as Set) { $0.formUnion($1.declaredModules) }
    let files = try machineFiles(classes, besides: modules).sorted { $0.name < $1.name }
    let contents = files.map(\.contents).joined(separator: "\n")
    return GeneratedFile(name: name, contents: contents, kind: .machine)
  }

  /// The names among those of a folder that an earlier run has generated and this model no longer has: files that begin with
  /// ``GeneratedFile/header``, and the human files to them.
  ///
  /// - Parameter firstLines: The first line of each file in the folder, by name.
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

  /// - Parameter fileModules: those whose types are in declarations of the file that all of it goes to, if there is one.
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

  /// `contents` with the mark of files that are overwritten, which templates of one's own may have left out.
  private static func marked(_ contents: String) -> String {
    contents.hasPrefix(GeneratedFile.header) ? contents : GeneratedFile.header + "\n" + contents
  }

  /// Types that are named by what is generated of any model.
  private static let usedTypes: Set<String> = [
    "AnyKeyPath", "AttributeKey", "Data", "FetchArgument", "FetchPredicate", "FetchRequest", "ManagedObject",
    "ManagedObjectContext",
    "ManagedObjectModel", "RelatedList", "RelatedSet", "String", "ToManyKey", "ToOneKey", "TransformedKey",
  ]

  private func checkNames(_ classes: [EntityClass]) throws(GenerationError) {
    if Self.usedTypes.contains(typeName) {
      throw GenerationError(
        description:
          "The classes of the model \(modelName) need a type called \(typeName), which is one of Heartwood's. Call the model otherwise."
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
      // An array of one element has no comma behind it, as the formatter wants it.
      "classes": .list(
        classes.map { ["className": .text($0.className), "comma": .text(classes.count > 1 ? "," : "")] }
      ),
      "json": .text(SwiftText.literal(json)),
    ])
  }
}

// MARK: GenerationOptions

/// How classes are generated.
public struct GenerationOptions: Sendable {
  /// Who may use the classes. The raw value is how it is written.
  public enum AccessLevel: String, Sendable, Hashable, CaseIterable {
    case `internal`, package, `public`

    /// What stands before a declaration.
    var modifier: String { self == .internal ? "" : rawValue + " " }

    /// What stands before the import of a module that no declaration names. Beside an import at the level of the package, one without a
    /// level would be an error in targets whose imports are not internal by default.
    var plainImportModifier: String { self == .package ? "internal " : "" }
  }

  /// The class that the classes of entities without a parent inherit from.
  public var baseClass = "ManagedObject"
  /// Who may use the classes.
  public var accessLevel = AccessLevel.internal
  /// Whether each class is in two parts: one that is generated anew, and one that its author owns.
  public var hasHumanFiles = true
  /// What to import beside Heartwood, such as the module of the base class.
  public var imports: [String] = []
  /// The template of the files that are generated anew.
  public var machineTemplate: Template?
  /// The template of the files that are made once.
  public var humanTemplate: Template?
  /// The attributes, as `Entity.attribute`, that have a value without being optional in Swift, though they are in the model.
  public var scalarAttributes: Set<String> = []

  /// The usual options.
  public init() {}
}

/// A file to be written.
public struct GeneratedFile: Sendable, Hashable {
  /// Whose file it is.
  public enum Kind: String, Sendable, Hashable {
    /// It is overwritten each time.
    case machine
    /// It is made once, and then its author's.
    case human
  }

  /// The name, without a folder.
  public let name: String
  /// The text.
  public let contents: String
  /// Whose file it is.
  public let kind: Kind

  /// A file of one's own.
  public init(name: String, contents: String, kind: Kind) {
    self.name = name
    self.contents = contents
    self.kind = kind
  }

  /// The first line of every file that is overwritten.
  public static let header =
    "// Generated by heartwood from the model. Changes are lost: make them in the model, or in another file."
}

/// Why no classes can be generated.
public struct GenerationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong and what to do.
  public let description: String
}
