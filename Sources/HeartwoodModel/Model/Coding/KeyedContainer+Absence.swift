/// In the JSON of a model, what is not there has its usual value: no flag, no text, an empty list.
extension KeyedEncodingContainer {
  mutating func encodeIfSet(_ flag: Bool, forKey key: Key) throws {
    if flag { try encode(true, forKey: key) }
  }

  mutating func encodeIfNotEmpty<Items: Collection & Encodable>(_ items: Items, forKey key: Key) throws {
    if !items.isEmpty { try encode(items, forKey: key) }
  }

  mutating func encode<Value: Encodable & Equatable>(_ value: Value, unless usual: Value, forKey key: Key) throws {
    if value != usual { try encode(value, forKey: key) }
  }
}

extension KeyedDecodingContainer {
  func flag(forKey key: Key) throws -> Bool {
    try decodeIfPresent(Bool.self, forKey: key) ?? false
  }

  func text(forKey key: Key) throws -> String? {
    try decodeIfPresent(String.self, forKey: key)
  }

  func list<Item: Decodable>(of type: Item.Type, forKey key: Key) throws -> [Item] {
    try decodeIfPresent([Item].self, forKey: key) ?? []
  }

  func userInfo(forKey key: Key) throws -> [String: String] {
    try decodeIfPresent([String: String].self, forKey: key) ?? [:]
  }
}
