import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes a file from its beginning to its end; the text of records is made on all processors, some blocks ahead.
struct XMLWriter {
  /// A guess at the length of an object's text, beside its values, to reserve memory.
  private static let typicalObjectLength = 400

  let schema: XMLSchema
  let contents: StoreContents
  let form: CoreDataMetadata.Form

  func write(to output: StoreOutput) throws {
    try writeHeader(to: output)
    for entity in schema.entities { try write(entity, to: output) }
    try output.write("</database>\n")
  }

  private func writeHeader(to output: StoreOutput) throws {
    var buffer = TextBuffer(capacity: 1 << 16)
    buffer.append(XMLFormat.prologue)
    buffer.append("<database>\n    <databaseInfo>\n")
    buffer.append("        <version>\(XMLFormat.version)</version>\n")
    buffer.append("        <UUID>\(contents.metadata.identifier.uuidString)</UUID>\n")
    buffer.append("        <nextObjectID>\(nextObjectID)</nextObjectID>\n")
    buffer.append("        <metadata>\n            <plist version=\"1.0\">\n")
    let members = try CoreDataMetadata.members(of: contents.metadata, model: contents.model, form: form)
    let list = MetadataValue.dictionary(members)
    var writer = PropertyListTextWriter(indent: "    ", dataIndent: "\t\t", depth: 4)
    writer.append(list, to: &buffer)
    buffer.append("            </plist>\n        </metadata>\n    </databaseInfo>\n")
    try output.write(buffer.bytes)
  }

  private var nextObjectID: Int64 {
    max(XMLFormat.firstNumber, contents.numberAfterGreatestReference)
  }

  private func write(_ entity: XMLSchema.Entity, to output: StoreOutput) throws {
    let runs = RowRun.all(of: contents.table(of: entity.description))
    let blocks = RowRun.blocks(of: runs, typicalLength: Self.typicalObjectLength)
    let ambiguous = Set(try entity.properties.filter { try isAmbiguous($0) }.map(\.ordinal))
    let schema = schema
    try Parallel.forEach(blocks.count) { index in
      Result<ByteSlice, any Error> { try Self.text(of: blocks[index], entity, schema, ambiguous) }
    } consume: { text in
      try output.write(try text.get())
    }
  }

  private static func text(
    of run: RowRun,
    _ entity: XMLSchema.Entity,
    _ schema: XMLSchema,
    _ ambiguous: Set<Int>
  ) throws(PersistenceError) -> ByteSlice {
    var buffer = TextBuffer(capacity: run.rows.count * typicalObjectLength)
    let formatter = XMLRowFormatter(group: run.group, schema: schema, entity: entity, ambiguous: ambiguous)
    try formatter.append(run.rows, to: &buffer)
    return buffer.sealed()
  }

  /// Whether two objects that a relationship may lead to have the same id.
  private func isAmbiguous(_ property: XMLSchema.Property) throws(PersistenceError) -> Bool {
    let tables = property.targets.map { contents.tables[$0] }.filter { $0.count > 0 }.sorted { $0.count > $1.count }
    for (index, table) in tables.enumerated() {
      for row in table.liveRows {
        for larger in tables[..<index] where try larger.row(of: table.reference(row)) != nil { return true }
      }
    }
    return false
  }
}
