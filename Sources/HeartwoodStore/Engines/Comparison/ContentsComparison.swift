import HeartwoodModel

/// Compares two stores: their identifiers, the user's metadata, and the records of each entity, in order, with all
/// values.
///
/// Versions of records are not compared: a store that has just been written begins them again.
package struct ContentsComparison {
  /// The first difference between two stores.
  package struct Difference: Sendable, CustomStringConvertible {
    package var entity: String?
    package var property: String?
    /// The record's position among those of its entity, counted from 1.
    package var position: Int?
    package let message: String

    package var description: String {
      let name = entity.map { entity in property.map { "\(entity).\($0)" } ?? entity }
      let place = position.map { "record \($0)" }
      let words = [name, place].compactMap(\.self)
      return words.isEmpty ? message : "\(words.joined(separator: ", ")): \(message)"
    }
  }

  private let left: StoreContents
  private let right: StoreContents

  /// Returns the first difference between two stores of the same model, or nil if there is none. O(values), on all
  /// processors; columns with the same layout in memory are compared as bytes.
  package static func firstDifference(_ left: StoreContents, _ right: StoreContents) -> Difference? {
    let comparison = ContentsComparison(left: left, right: right)
    if let difference = comparison.metadataDifference() { return difference }
    for entity in left.entities {
      if let difference = comparison.difference(in: entity, entity) { return difference }
    }
    return nil
  }

  /// Returns whether both stores have the same records of an entity, in the same order. Both descriptions of the entity
  /// are the same.
  static func haveSameRecords(_ left: StoreContents, _ right: StoreContents, _ entity: SharedEntity) -> Bool {
    ContentsComparison(left: left, right: right).difference(in: entity.first, entity.second) == nil
  }

  private func metadataDifference() -> Difference? {
    if left.metadata.identifier != right.metadata.identifier {
      return Difference(message: "the identifiers of the stores differ")
    }
    return left.metadata.userInfo == right.metadata.userInfo
      ? nil : Difference(message: "the metadata of the user differ")
  }

  private func difference(in entity: EntityDescription, _ other: EntityDescription) -> Difference? {
    let tables = (left.table(of: entity), right.table(of: other))
    guard tables.0.count == tables.1.count else {
      return Difference(entity: entity.name, message: "there are \(tables.0.count) records and \(tables.1.count)")
    }
    let pairs = RowPairs.all(tables.0, tables.1)
    return Parallel.map(pairs.count) { difference(pairs[$0], entity) }.lazy.compactMap(\.self).first
  }

  private func difference(_ pair: RowPairs, _ entity: EntityDescription) -> Difference? {
    if let offset = pair.firstReferenceDifference() {
      return Difference(entity: entity.name, position: pair.position + offset, message: "the references differ")
    }
    for ordinal in entity.properties.indices where !pair.hasSameBytes(ordinal) {
      let property = entity.properties[ordinal]
      guard let offset = firstDifference(pair, ordinal, property) else { continue }
      return Difference(
        entity: entity.name,
        property: property.name,
        position: pair.position + offset,
        message: "the values differ"
      )
    }
    return nil
  }

  private func firstDifference(_ pair: RowPairs, _ ordinal: Int, _ property: PropertyDescription) -> Int? {
    let type = property.attribute?.type
    let isUnordered = property.relationship.map { $0.isToMany && !$0.isOrdered } ?? false
    return (0..<pair.count).first { offset in
      let a = pair.left.value(row: pair.leftRow + offset, ordinal: ordinal, type: type, scopes: left.scopes)
      let b = pair.right.value(row: pair.rightRow + offset, ordinal: ordinal, type: type, scopes: right.scopes)
      return isUnordered ? Set(a.objectIDs) != Set(b.objectIDs) : a != b
    }
  }
}

// MARK: SharedEntity

/// An entity that two models have, with the stored properties that both its descriptions have.
struct SharedEntity: Sendable {
  /// A property with the same name and of the same kind in both descriptions.
  struct Property: Sendable {
    let name: String
    let ordinals: (first: Int, second: Int)
    let isRelationship: Bool
    /// Whether the order of the objects counts.
    let isOrdered: Bool
  }

  let first: EntityDescription
  let second: EntityDescription
  let properties: [Property]
  /// The names of properties that only one description has, or that are an attribute in one and a relationship in the
  /// other.
  let onlyInFirst: [String]
  let onlyInSecond: [String]

  init(first: EntityDescription, second: EntityDescription) {
    self.first = first
    self.second = second
    let properties = Self.keptOrdinals(of: first).compactMap { Self.shared($0, of: first, with: second) }
    let names = Set(properties.map(\.name))
    self.properties = properties
    onlyInFirst = Self.names(of: first).filter { !names.contains($0) }
    onlyInSecond = Self.names(of: second).filter { !names.contains($0) }
  }

  /// Whether both descriptions have the same properties in the same order, so that their rows can be compared column by
  /// column.
  var isSame: Bool {
    onlyInFirst.isEmpty && onlyInSecond.isEmpty && properties.allSatisfy { $0.ordinals.first == $0.ordinals.second }
      && first.versionHash == second.versionHash
  }

  private static func keptOrdinals(of entity: EntityDescription) -> [Int] {
    entity.properties.indices.filter { !entity.properties[$0].isTransient }
  }

  private static func names(of entity: EntityDescription) -> [String] {
    keptOrdinals(of: entity).map { entity.properties[$0].name }
  }

  private static func shared(
    _ ordinal: Int,
    of first: EntityDescription,
    with second: EntityDescription
  ) -> Property? {
    let property = first.properties[ordinal]
    guard let other = second.ordinal(ofProperty: property.name), !second.properties[other].isTransient else {
      return nil
    }
    let traits = (first.traits[ordinal], second.traits[other])
    guard (traits.0.attributeType == nil) == (traits.1.attributeType == nil) else { return nil }
    return Property(
      name: property.name,
      ordinals: (ordinal, other),
      isRelationship: traits.0.attributeType == nil,
      isOrdered: traits.0.isOrdered && traits.1.isOrdered
    )
  }
}
