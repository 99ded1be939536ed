import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting

/// Stores full of random values, odd ones more often than they are met.
enum RandomContents {
  /// - Parameter kinds: the kinds of references, of which 0 and 1 are never given twice.
  static func make(
    _ store: SampleStore,
    _ generator: inout SeededGenerator,
    kinds: ClosedRange<Int> = 0...3
  ) throws -> StoreContents {
    var contents = try store.contents { _ in }
    for entity in contents.entities where !entity.isAbstract {
      let kind = Int.random(in: kinds, using: &generator)
      let groups = (0..<Int.random(in: 0...3, using: &generator)).map { number in
        group(entity, contents, number, kind: kind, &generator)
      }
      contents = try contents.replacing(entity.name, with: groups)
    }
    return contents
  }

  private static func group(
    _ entity: EntityDescription,
    _ contents: StoreContents,
    _ number: Int,
    kind: Int,
    _ generator: inout SeededGenerator
  ) -> RowGroup {
    let builder = RowGroupBuilder(entity: entity)
    let versions: ClosedRange<UInt64> = 1...(Bool.random(using: &generator) ? 1 : 5)
    for row in 0..<Int.random(in: 1...70, using: &generator) {
      let values = entity.properties.indices.map { value(entity, $0, contents, &generator) }
      builder.append(
        reference(number * 100 + row, kind: kind, &generator),
        version: .random(in: versions, using: &generator),
        values: values
      )
    }
    return builder.sealed()
  }

  /// The reference with `number`, of one kind or (for 3) of any.
  private static func reference(_ number: Int, kind: Int, _ generator: inout SeededGenerator) -> ReferenceID {
    switch kind == 3 ? Int.random(in: 0...2, using: &generator) : kind {
    case 0: .integer(Int64(number) - 50)
    case 1: .string("n° \(number)")
    default: .uuid(UUID(sample: UInt8(truncatingIfNeeded: number)))
    }
  }

  static func value(
    _ entity: EntityDescription,
    _ ordinal: Int,
    _ contents: StoreContents,
    _ generator: inout SeededGenerator
  ) -> PropertyValue {
    let property = entity.properties[ordinal]
    if let target = entity.relationshipTargets[ordinal] {
      let concrete = contents.model.concreteEntities(under: contents.model.entities[target.entityOrdinal])
      let ids = (0..<Int.random(in: 0...4, using: &generator)).compactMap { _ in
        concrete.randomElement(using: &generator).map { destination in
          contents.objectID(reference(Int.random(in: 0...99, using: &generator), kind: 3, &generator), of: destination)
        }
      }
      if property.relationship?.isToMany ?? false { return .toMany(ids) }
      return ids.first.map(PropertyValue.toOne) ?? .null
    }
    guard let type = property.attribute?.type, !property.isTransient, Int.random(in: 0...3, using: &generator) > 0
    else {
      return .null
    }
    return value(of: type, &generator)
  }

  private static func value(of type: AttributeType, _ generator: inout SeededGenerator) -> PropertyValue {
    let bits = generator.next()
    switch type {
    case .integer16: return .integer(Int64(Int16(truncatingIfNeeded: bits)))
    case .integer32: return .integer(Int64(Int32(truncatingIfNeeded: bits)))
    case .integer64: return .integer(Int64(truncatingIfNeeded: bits))
    case .decimal:
      let exponent = Int.random(in: -100...100, using: &generator)
      return .decimal(Decimal(sign: bits & 1 == 0 ? .plus : .minus, exponent: exponent, significand: Decimal(bits)))
    case .double: return .double(Double(bitPattern: bits))
    case .float: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
    case .string: return .string(text(&generator))
    case .boolean: return .boolean(bits & 1 == 0)
    case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
    case .binary, .transformable, .undefined: return .binary(Data(text(&generator).utf8.reversed()))
    case .uuid: return .uuid(UUID(sample: UInt8(truncatingIfNeeded: bits)))
    case .uri: return URL(string: "https://example.org/\(bits)?q=%20#f").map(PropertyValue.uri) ?? .null
    }
  }

  private static func text(_ generator: inout SeededGenerator) -> String {
    var scalars = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...12, using: &generator) {
      let range: ClosedRange<UInt32> = Int.random(in: 0...2, using: &generator) == 0 ? 0...0x10FFFF : 0x20...0x7E
      if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &generator)) { scalars.append(scalar) }
    }
    return String(scalars)
  }
}
