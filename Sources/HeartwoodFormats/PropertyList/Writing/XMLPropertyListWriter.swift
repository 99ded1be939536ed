import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes a store as a property list in XML; the text of records is made on all processors, some blocks ahead.
struct XMLPropertyListWriter {
  private static let prologue = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">

    """
  /// A guess at the length of a record, beside its values, to reserve memory.
  private static let typicalRecordLength = 400

  let schema: PropertyListSchema
  let contents: StoreContents

  func write(to output: StoreOutput) throws {
    let model = String(decoding: try contents.model.encoded(), as: UTF8.self)
    let head: [(String, MetadataValue)] = [
      (PropertyListFormat.versionKey, .integer(PropertyListFormat.version)),
      (PropertyListFormat.metadataKey, PropertyListMetadata.value(contents.metadata)),
      (PropertyListFormat.modelKey, .string(model)),
    ]
    var lines = PropertyListTextWriter(indent: "\t", dataIndent: nil, depth: 0)
    try writing(to: output) { buffer in
      buffer.append(Self.prologue)
      lines.line("<dict>", to: &buffer)
      lines.depth = 1
      for (key, value) in head {
        lines.append(key: key, to: &buffer)
        lines.append(value, to: &buffer)
      }
      lines.append(key: PropertyListFormat.recordsKey, to: &buffer)
      lines.line("<dict>", to: &buffer)
    }
    for entity in schema.entities { try write(entity, to: output) }
    try output.write("\t</dict>\n</dict>\n</plist>\n")
  }

  private func writing(to output: StoreOutput, _ body: (inout TextBuffer) -> Void) throws(PersistenceError) {
    var buffer = TextBuffer(capacity: 1 << 12)
    body(&buffer)
    try output.write(buffer.bytes)
  }

  private func write(_ entity: PropertyListSchema.Entity, to output: StoreOutput) throws {
    let lines = PropertyListTextWriter(indent: "\t", dataIndent: nil, depth: 2)
    try writing(to: output) { buffer in
      lines.append(key: entity.name, to: &buffer)
      lines.line("<array>", to: &buffer)
    }
    let runs = RowRun.all(of: contents.table(of: entity.description))
    let blocks = RowRun.blocks(of: runs, typicalLength: Self.typicalRecordLength)
    let names = schema.model.entities.map(\.name)
    try Parallel.forEach(blocks.count) { index in
      var buffer = TextBuffer(capacity: blocks[index].rows.count * Self.typicalRecordLength)
      XMLPropertyListFormatter(group: blocks[index].group, entity: entity, entityNames: names)
        .append(blocks[index].rows, to: &buffer)
      return buffer.sealed()
    } consume: { text in
      try output.write(text)
    }
    try writing(to: output) { lines.line("</array>", to: &$0) }
  }
}
