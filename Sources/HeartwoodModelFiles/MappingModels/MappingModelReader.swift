@_spi(CoreDataFiles) import HeartwoodFormats
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Reads the file of Xcode's mapping model editor: an XML store with mappings as records.
struct MappingModelReader {
  private let contents: StoreContents
  private let model: AtomicStoreCacheNode
  private(set) var problems = MappingProblems()
  /// The number of steps that the archives of all expressions may still take: about ten per property of a large model.
  private var stepsLeft = 1_000_000

  init(_ url: URL) throws(ModelFileError) {
    do {
      contents = try Self.contents(url)
    } catch let error as PersistenceError {
      throw ModelFileError(file: url.path, line: error.context.line, column: error.context.column, error.message)
    } catch {
      throw ModelFileError(file: url.path, "The mapping model cannot be read. \(error)")
    }
    guard let entity = contents.model.entity(named: MappingModelForm.model),
      let node = contents.nodes(of: entity).first(where: { _ in true })
    else { throw ModelFileError(file: url.path, "The file holds no mapping model.") }
    model = node
    for entity in contents.entities where MappingModelForm.names[entity.name] == nil {
      if contents.table(of: entity).count > 0 { problems.append("the element \(entity.name) is not known") }
    }
    if contents.table(of: entity).count > 1 { problems.append("it has several mapping models") }
    checkValues(model, "the mapping model")
  }

  /// Returns the records of the file, with a model that is inferred from the file.
  private static func contents(_ url: URL) throws -> StoreContents {
    let fileSystem = POSIXFileSystem()
    var options = StoreOptions()
    (options[.isReadOnly], options[.ignoresModelVersion]) = (true, true)
    let file = try StoreInput(try fileSystem.openFile(atPath: url.path))
    guard let model = try XMLStore.inferModel(from: file, options: options) else {
      throw PersistenceError(.fileMalformed, "The file holds no records.", context: .init(path: url.path))
    }
    let store = try StoreManager(model: model, registry: StoreRegistry([XMLStore.self]), fileSystem: fileSystem).open(
      .init(type: .xml, path: url.path, options: options)
    )
    defer { _ = store.engine.close(unlessSavedSince: nil) }
    return try store.engine.contents()
  }
}

// MARK: Values

extension MappingModelReader {
  private func value(_ node: AtomicStoreCacheNode, _ name: String) -> PropertyValue {
    node.entity.ordinal(ofProperty: name).map { node[$0] } ?? .null
  }

  /// Returns a text; nil if it is empty.
  private func text(_ node: AtomicStoreCacheNode, _ name: String) -> String? {
    guard case .string(let text) = value(node, name), !text.isEmpty else { return nil }
    return text
  }

  private func number(_ node: AtomicStoreCacheNode, _ name: String) -> Int64 {
    if case .integer(let number) = value(node, name) { number } else { 0 }
  }

  private func related(_ node: AtomicStoreCacheNode, _ name: String) -> [AtomicStoreCacheNode] {
    // try?: all records have been read; a reference that occurs twice was refused then.
    value(node, name).objectIDs.compactMap { id in (try? contents.node(id.reference, of: id.entity)) ?? nil }
  }

  /// Returns the name of the version that a path refers to.
  func version(_ name: String) -> String? {
    let suffix = ".xcdatamodel"
    guard let last = text(model, name)?.split(separator: "/").last else { return nil }
    return String(last.hasSuffix(suffix) ? last.dropLast(suffix.count) : last)
  }

  /// Reports the values of an element that are not known.
  private mutating func checkValues(_ node: AtomicStoreCacheNode, _ place: String) {
    guard let names = MappingModelForm.names[node.entity.name] else { return }
    for (ordinal, property) in node.entity.properties.enumerated() where !names.contains(property.name) {
      let value = node[ordinal]
      guard !value.isNull, property.relationship == nil || !value.objectIDs.isEmpty else { continue }
      problems.append("\(place): the value “\(property.name)” is not known")
    }
  }

  private mutating func userInfo(_ node: AtomicStoreCacheNode, _ place: String, isRead: Bool) -> [String: String] {
    guard case .binary(let data) = value(node, "userinfodata") else { return [:] }
    let members = archive(data)?.root?.members ?? []
    return problems.userInfo(members, isReadable: !members.isEmpty, place, isReadByPolicy: isRead)
  }
}

// MARK: Mappings

extension MappingModelReader {
  /// Returns the entity mappings, in the order of the migration.
  mutating func entityMappings() -> [EntityMappingDraft] {
    let nodes = related(model, "entitymappings")
    return nodes.sorted { number($0, "mappingnumber") < number($1, "mappingnumber") }.map { entityMapping($0) }
  }

  private mutating func entityMapping(_ node: AtomicStoreCacheNode) -> EntityMappingDraft {
    let (source, destination) = (text(node, "sourcename"), text(node, "destinationname"))
    let name = EntityMappingDraft.name(text(node, "name"), from: source, to: destination)
    checkValues(node, name)
    let policy = text(node, "migrationpolicyclassname")
    return EntityMappingDraft(
      mapping: EntityMapping(
        name: name,
        mappingType: mappingType(node, name),
        sourceEntityName: source,
        destinationEntityName: destination,
        sourcePredicate: sourcePredicate(node, name),
        entityMigrationPolicyClassName: policy,
        userInfo: userInfo(node, name, isRead: policy != nil)
      ),
      attributes: properties(node, "attributemappings", of: name, hasPolicy: policy != nil),
      relationships: properties(node, "relationshipmappings", of: name, hasPolicy: policy != nil)
    )
  }

  private mutating func mappingType(_ node: AtomicStoreCacheNode, _ mapping: String) -> EntityMapping.MappingType {
    guard let name = text(node, "mappingtypename") else { return .undefined }
    if let type = EntityMapping.MappingType(rawValue: name.lowercased()) { return type }
    problems.append("\(mapping): the mapping type “\(name)” is not known")
    return .undefined
  }

  /// Returns the condition for the records of a mapping.
  private mutating func sourcePredicate(_ node: AtomicStoreCacheNode, _ mapping: String) -> FetchPredicate? {
    var format = text(node, "sourcefilterpredicatestring")
    if case .binary(let data) = value(node, "sourceexpressiondata"),
      value(node, "autogenerateexpression") != .boolean(true)
    {
      if let fetch = archive(data)?.root.flatMap(ArchivedSourceFetch.init), fetch.entityName == text(node, "sourcename")
      {
        format = fetch.predicate
      } else {
        problems.appendSourceExpression(of: mapping)
      }
    }
    return format.flatMap { problems.predicate(format: $0, of: mapping) }
  }

  private mutating func properties(
    _ node: AtomicStoreCacheNode,
    _ relationship: String,
    of mapping: String,
    hasPolicy: Bool
  ) -> [EntityMappingDraft.Property] {
    var properties: [EntityMappingDraft.Property] = []
    for node in related(node, relationship) {
      let name = text(node, "name") ?? ""
      let place = "\(mapping).\(name)"
      checkValues(node, place)
      let (expression, isWritten) = valueExpression(node, place)
      if name.isEmpty {
        if isWritten { problems.append("\(mapping): an expression is of a property that has no name") }
        continue
      }
      let isGenerated = value(node, "autogenerateexpression") != .boolean(false)
      let sourceMappingName = text(node, "sourcemappingname")
      properties.append(
        .init(
          mapping: PropertyMapping(
            name: name,
            valueExpression: expression,
            userInfo: userInfo(node, place, isRead: hasPolicy)
          ),
          // An expression that cannot be read must not be filled in.
          isGenerated: !isWritten && (isGenerated || sourceMappingName != nil),
          sourceMappingName: sourceMappingName
        )
      )
    }
    return properties.sorted { $0.mapping.name < $1.mapping.name }
  }
}

// MARK: Expressions

extension MappingModelReader {
  /// Returns nil if the data is not an archive.
  private mutating func archive(_ data: Data) -> KeyedArchive? {
    guard stepsLeft > 0 else { return nil }
    // try?: the caller reports data that is not an archive.
    return try? KeyedArchive([UInt8](data), steps: stepsLeft)
  }

  private mutating func archivedExpression(_ data: Data) -> MappingExpression? {
    guard let archive = archive(data) else { return nil }
    let expression = archive.root.flatMap(ArchivedMappingExpression.expression)
    stepsLeft = archive.stepsLeft
    return archive.isExhausted ? nil : expression
  }

  /// Returns the expression of a property, and whether the file has one. An expression that cannot be read is a
  /// problem.
  private mutating func valueExpression(
    _ node: AtomicStoreCacheNode,
    _ place: String
  ) -> (expression: MappingExpression?, isWritten: Bool) {
    if case .binary(let data) = value(node, "valueexpressiondata") {
      let expression = archivedExpression(data)
      if expression == nil { problems.append("\(place): the value expression, which is archived, is not understood") }
      return (expression, true)
    }
    guard let keyPath = text(node, "sourcekeypath") else { return (nil, false) }
    guard let sources = Self.sources(keyPath) else {
      problems.append("\(place): the key path “\(keyPath)” is not understood")
      return (nil, true)
    }
    if let mapping = text(node, "sourcemappingname") {
      return (.destinationInstances(forEntityMappingNamed: mapping, of: sources), true)
    }
    guard case .keyPath(_, let path) = sources else {
      problems.append("\(place): the key path “\(keyPath)” names no relationship, and there is no mapping for it")
      return (nil, true)
    }
    return (.destinationInstances(forSourceRelationshipAt: path), true)
  }

  /// Returns the records that a key path refers to: `$source` itself, `$source.items`, or `items`, which means the
  /// same.
  private static func sources(_ keyPath: String) -> MappingExpression? {
    let text = keyPath.first == "$" ? keyPath : "$\(MappingExpression.Name.source).\(keyPath)"
    // try?: the caller reports a text that is not an expression.
    switch try? MappingExpression(format: text) {
    case .variable(MappingExpression.Name.source)?: return .variable(MappingExpression.Name.source)
    case .keyPath(.variable(MappingExpression.Name.source), let path)?: return .source(path)
    default: return nil
    }
  }
}

// MARK: MappingModelForm

/// The elements of a mapping model's file, and those of their values that are read or have no meaning for a migration.
enum MappingModelForm {
  static let model = "XDDevMappingModel"
  static let entityMapping = "XDDevEntityMapping"
  static let attributeMapping = "XDDevAttributeMapping"
  static let relationshipMapping = "XDDevRelationshipMapping"

  /// The names of values and relationships, by the name of their element, in lower case as in files.
  static let names: [String: Set<String>] = [
    model: [
      "entitymappings", "sourcemodelpath", "sourcemodeldata", "destinationmodelpath", "destinationmodeldata",
      "userinfodata",
    ],
    entityMapping: [
      "name", "mappingtypename", "mappingnumber", "sourcename", "destinationname", "sourcefilterpredicatestring",
      "sourceexpressiondata", "autogenerateexpression", "migrationpolicyclassname", "userinfodata", "mappingmodel",
      "attributemappings", "relationshipmappings",
    ],
    attributeMapping: property,
    relationshipMapping: property.union(["sourcekeypath", "sourcemappingname"]),
  ]

  private static let property: Set<String> = [
    "name", "autogenerateexpression", "valueexpressiondata", "userinfodata", "entitymapping",
  ]
}

// MARK: ArchivedMappingExpression

/// Reads archived value expressions.
enum ArchivedMappingExpression {
  private static let deepestNesting = 32

  /// Returns the expression; nil if the archive contains something that cannot be represented.
  static func expression(_ node: ArchiveNode) -> MappingExpression? { expression(node, depth: 0) }

  private static func expression(_ node: ArchiveNode, depth: Int) -> MappingExpression? {
    guard depth < deepestNesting else { return nil }
    switch node.className {
    case "NSVariableExpression": return node["NSVariable"]?.string.map(MappingExpression.variable)
    case "NSKeyPathExpression": return keyPath(node, depth: depth)
    case "NSFunctionExpression": return function(node, depth: depth)
    default: return computed(node)
    }
  }

  private static func keyPath(_ node: ArchiveNode, depth: Int) -> MappingExpression? {
    guard let base = node["NSOperand"].flatMap({ expression($0, depth: depth + 1) }),
      let path = node["NSArguments"]?.items.first?["NSKeyPath"]?.string
    else { return nil }
    if case .keyPath(let inner, let first) = base { return .keyPath(of: inner, "\(first).\(path)") }
    return .keyPath(of: base, path)
  }

  /// Returns a message to an object that the migration provides. Any other function is computed.
  private static func function(_ node: ArchiveNode, depth: Int) -> MappingExpression? {
    guard let target = node["NSOperand"], target.className == "NSVariableExpression",
      let name = node["NSSelectorName"]?.string
    else { return computed(node) }
    let items = node["NSArguments"]?.items ?? []
    let arguments = items.compactMap { expression($0, depth: depth + 1) }
    guard arguments.count == items.count, let operand = expression(target, depth: depth + 1) else { return nil }
    return .function(on: operand, name: name, arguments)
  }

  private static func computed(_ node: ArchiveNode) -> MappingExpression? {
    ArchivedPredicate.expression(node).map { expression in
      if case .constant(let value) = expression { .constant(value) } else { .computed(expression) }
    }
  }
}
