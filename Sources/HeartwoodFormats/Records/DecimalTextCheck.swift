import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Whether decimal numbers come back from their text.
struct DecimalTextCheck {
  let storeType: StoreType

  /// - Throws: ``PersistenceError/Code/valueUnsupported``.
  func check(_ table: NodeTable) throws(PersistenceError) {
    for (ordinal, property) in table.entity.properties.enumerated()
    where property.attribute?.type == .decimal && !property.isTransient {
      for group in table.groups where !Self.isReadable(group, group.unsafeViews[ordinal]) {
        throw PersistenceError(
          .valueUnsupported,
          Self.reason,
          recovery: Self.recovery,
          context: .init(storeType: storeType, entity: table.entity.name, property: property.name)
        )
      }
    }
  }

  static let reason = "The decimal number cannot be read back from its text."
  static let recovery: PersistenceError.Recovery = "Change it."

  /// Whether all numbers of a column come back.
  static func isReadable(_ group: RowGroup, _ view: ColumnView) -> Bool {
    for row in 0..<group.rowCount where group.isLive(row) && !view.unsafeIsNull(row) {
      let value = PropertyValue.decimal(view.unsafeDecimal(row))
      if value.text(of: .decimal).flatMap({ PropertyValue(text: $0, type: .decimal) }) != value { return false }
    }
    return true
  }
}
