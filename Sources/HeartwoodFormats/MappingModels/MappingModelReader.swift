import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads what Xcode's editor of mapping models writes: an XML store, whose records are mappings.
struct MappingModelReader {
  private let contents: StoreContents
  private let model: AtomicStoreCacheNode
  private(set) var notes: [String] = []
  /// How many steps the archives of all expressions may still take: some ten for each property of a large model.
  private var stepsLeft = 1_000_000

  init(_ url: URL) throws(ModelFileError) {
    do {
      contents = try Self.contents(url)
    } catch let error as PersistenceError {
      throw ModelFileError(file: url.path, line: error.context.line, column: error.context.column, error.message)
    } catch {
      throw ModelFileError(file: url.path, "The mapping model cannot be read. \(error)")
    }
    guard let entity = contents.model.entity(named: "XDDevMappingModel"),
      let node = contents.nodes(of: entity).first(where: { _ in true })
    else { throw ModelFileError(file: url.path, "The file holds no mapping model.") }
    model = node
  }

  /// The records of the file, by the model that they tell.
  private static func contents(_ url: URL) throws -> StoreContents {
    let fileSystem = POSIXFileSystem()
    var options = StoreOptions()
    (options[.isReadOnly], options[.ignoresModelVersion]) = (true, true)
    let file = try StoreInput(try fileSystem.openFile(atPath: url.path))
    guard let model = try XMLStore.inferModel(from: file, options: options) else {
      throw PersistenceError(.fileMalformed, "The file holds no records.", context: .init(path: url.path))
    }
    let store = try StoreOpener(model: model, registry: StoreRegistry([XMLStore.self]), fileSystem: fileSystem).open(
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

  /// A text that is not empty.
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

  /// The name of the version that a path leads to.
  func version(_ name: String) -> String? {
    let suffix = ".xcdatamodel"
    guard let last = text(model, name)?.split(separator: "/").last else { return nil }
    return String(last.hasSuffix(suffix) ? last.dropLast(suffix.count) : last)
  }
}

// MARK: Mappings

extension MappingModelReader {
  /// The mappings of entities, in the order of the migration.
  mutating func entityMappings() -> [EntityMappingDraft] {
    let nodes = related(model, "entitymappings")
    return nodes.sorted { number($0, "mappingnumber") < number($1, "mappingnumber") }.map { entityMapping($0) }
  }

  private mutating func entityMapping(_ node: AtomicStoreCacheNode) -> EntityMappingDraft {
    let (source, destination) = (text(node, "sourcename"), text(node, "destinationname"))
    let name = text(node, "name") ?? [source, destination].compactMap(\.self).joined(separator: "To")
    let typeName = text(node, "mappingtypename")?.lowercased() ?? ""
    return EntityMappingDraft(
      mapping: EntityMapping(
        name: name,
        mappingType: EntityMapping.MappingType(rawValue: typeName) ?? .undefined,
        sourceEntityName: source,
        destinationEntityName: destination,
        entityMigrationPolicyClassName: text(node, "migrationpolicyclassname")
      ),
      attributes: properties(node, "attributemappings", of: name),
      relationships: properties(node, "relationshipmappings", of: name)
    )
  }

  private mutating func properties(
    _ node: AtomicStoreCacheNode,
    _ relationship: String,
    of mapping: String
  ) -> [EntityMappingDraft.Property] {
    let nodes = related(node, relationship).compactMap { node in text(node, "name").map { (name: $0, node: node) } }
    return nodes.sorted { $0.name < $1.name }.map { name, node in
      let expression = valueExpression(node, "\(mapping).\(name)")
      // What could not be read must not be taken for what Xcode would fill in.
      let isGenerated =
        expression == nil && value(node, "valueexpressiondata").isNull
        && value(node, "autogenerateexpression") != .boolean(false)
      return .init(mapping: PropertyMapping(name: name, valueExpression: expression), isGenerated: isGenerated)
    }
  }

  private mutating func archivedExpression(_ data: Data) -> MappingExpression? {
    // try?: what is no archive is noted as not represented.
    guard stepsLeft > 0, let archive = try? KeyedArchive([UInt8](data), steps: stepsLeft) else { return nil }
    let expression = archive.root.flatMap(ArchivedMappingExpression.expression)
    stepsLeft = archive.stepsLeft
    return archive.isExhausted ? nil : expression
  }

  private mutating func valueExpression(_ node: AtomicStoreCacheNode, _ place: String) -> MappingExpression? {
    if case .binary(let data) = value(node, "valueexpressiondata") {
      if let expression = archivedExpression(data) { return expression }
      notes.append("The expression of \(place) is not represented.")
      return nil
    }
    guard let keyPath = text(node, "sourcekeypath") else { return nil }
    // try?: as below: it is noted.
    guard case .keyPath(_, let path)? = try? MappingExpression(format: keyPath) else {
      notes.append("The key path of \(place) is not represented: \(keyPath).")
      return nil
    }
    if let mapping = text(node, "sourcemappingname") {
      return .destinationInstances(forEntityMappingNamed: mapping, sourceInstances: path)
    }
    let name = path.split(separator: ".").last.map(String.init) ?? path
    return .function(
      on: .variable(MappingExpression.Name.manager),
      name: MappingExpression.ManagerFunction.destinationInstancesForSourceRelationship.rawValue,
      [.constant(.string(name)), .source(path)]
    )
  }
}
