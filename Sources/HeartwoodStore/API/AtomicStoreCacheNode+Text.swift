public import HeartwoodModel

/// What a store that writes text needs of a record: `NodeDraft.setAttributeTexts` and `setObjectIDs` take it back.
extension AtomicStoreCacheNode {
  /// The attributes that have a value, by name, as text in the canonical form of their type: digits, a UUID in capitals, base64 for
  /// binary data, the seconds since 2001-01-01 00:00 UTC for a date.
  public var attributeTexts: [String: String] {
    var texts: [String: String] = [:]
    for (ordinal, property) in entity.properties.enumerated() where !property.isTransient {
      guard let attribute = property.attribute else { continue }
      texts[attribute.name] = self[ordinal].text(of: attribute.type)
    }
    return texts
  }

  /// The relationships that lead anywhere, by name, and where they lead, in order.
  public var relatedObjectIDs: [String: [ManagedObjectID]] {
    var related: [String: [ManagedObjectID]] = [:]
    for (ordinal, property) in entity.properties.enumerated() where !property.isTransient {
      let ids = self[ordinal].objectIDs
      if !ids.isEmpty { related[property.name] = ids }
    }
    return related
  }
}
