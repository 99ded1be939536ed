import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension CSVBatchReader {
  private static let badReference =
    "The reference must be a UUID, a number, or a string with an apostrophe before it."

  func readReferences(_ fields: CSVColumnFields, into builder: RowGroupBuilder) -> Fault? {
    let column = builder.references
    let ordinal = schema.entity.ordinal
    if references.takesEveryUUID {
      let failed = fill(fields, nothing: UUID.zeroBytes) { uuid($0, fields) }
      if failed == nil, !hasNulls {
        let bytes = UnsafeRawBufferPointer(start: scratch, count: fields.count * MemoryLayout<uuid_t>.stride)
        column.append(uuids: bytes, entityOrdinal: ordinal)
        return nil
      }
      if takesOnlyUUIDs { return (failed ?? 0, Self.badReference) }
    }
    for row in 0..<fields.count {
      let field = fields[row]
      guard !field.isNull else { return (row, "The reference is missing, by which the record is told from others.") }
      guard let reference = references.reference(fields.bytes(field)) else { return (row, Self.badReference) }
      column.append(reference, entityOrdinal: ordinal)
    }
    return nil
  }

  func readToOne(_ fields: CSVColumnFields, into column: ColumnBuilder) -> Fault? {
    for row in 0..<fields.count {
      let field = fields[row]
      if field.isNull {
        column.appendNull()
      } else if let reference = references.reference(fields.bytes(field)) {
        column.append(toOne: reference, entityOrdinal: schema.entity.ordinal)
      } else {
        return (row, Self.badReference)
      }
    }
    return nil
  }

  func readToMany(_ fields: CSVColumnFields, into column: ColumnBuilder) -> Fault? {
    let list = CSVReferenceList(references: references)
    for row in 0..<fields.count {
      guard let references = list.references(fields.bytes(fields[row])) else {
        return (
          row,
          "Each reference of the list must be a UUID, a number, or a string with an apostrophe before it; a space "
            + "separates them, and % stands before two hexadecimal digits."
        )
      }
      column.append(toMany: references.map { ($0, schema.entity.ordinal) })
    }
    return nil
  }
}

extension UUID {
  static let zeroBytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}
