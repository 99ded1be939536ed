import HeartwoodModel
import HeartwoodStore

/// Tells which objects must be validated closely: those with a value that may be at fault. Most have none.
struct ValueScreen {
  /// Whether there are rules that only a close look can tell.
  let hasRules: Bool
  /// The properties that something is asked of that a column may not keep to.
  private let demanding: [(ordinal: Int, trait: PropertyTrait)]
  /// What was found out of the group that was asked for last.
  private var lastGroup: (group: RowGroup, isSuspect: Bool)?

  init(_ entity: EntityDescription) {
    hasRules = !entity.ruledAttributes.isEmpty
    demanding = entity.traits.enumerated().compactMap { ordinal, trait in
      let isCounted = trait.isToMany && (trait.minCount > 0 || trait.maxCount > 0)
      let isDemanding = !trait.isTransient && (!trait.mayBeEmpty || isCounted)
      return isDemanding ? (ordinal, trait) : nil
    }
  }

  /// Whether a value may be at fault.
  @inline(__always)
  static func isSuspect(_ value: PropertyValue, _ trait: PropertyTrait) -> Bool {
    switch value {
    case .null: !trait.isOptional || trait.isToMany
    case .toOne: !trait.isToOne || trait.minCount > 1
    case .toMany(let ids): !trait.isToMany || isSuspect(count: ids.count, trait)
    default: !value.canBeKept(as: trait)
    }
  }

  private static func isSuspect(count: Int, _ trait: PropertyTrait) -> Bool {
    if count == 0 { return !trait.mayBeEmpty }
    return count < trait.minCount || trait.maxCount > 0 && count > trait.maxCount
  }

  /// Whether a record of `group` may have a value at fault.
  mutating func isSuspect(_ group: RowGroup) -> Bool {
    if let lastGroup, lastGroup.group === group { return lastGroup.isSuspect }
    let isSuspect = demanding.contains { ordinal, trait in trait.isToMany || group.columns[ordinal].validity != nil }
    lastGroup = (group, isSuspect)
    return isSuspect
  }
}
