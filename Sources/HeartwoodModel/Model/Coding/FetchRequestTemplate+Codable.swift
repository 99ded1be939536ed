extension FetchRequestTemplate: Codable {
  private enum Key: String, CodingKey {
    case name, entity, predicate, resultType, limit, batchSize
    case withoutSubentities, withoutPropertyValues, withoutPendingChanges, withoutFaults, distinct
  }

  /// Writes the template as `Formats/Model/README.md` says.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .name)
    try container.encode(entityName, forKey: .entity)
    try container.encodeIfPresent(predicate, forKey: .predicate)
    try container.encode(resultType, unless: .objects, forKey: .resultType)
    try container.encode(fetchLimit, unless: 0, forKey: .limit)
    try container.encode(fetchBatchSize, unless: 0, forKey: .batchSize)
    try container.encodeIfSet(!includesSubentities, forKey: .withoutSubentities)
    try container.encodeIfSet(!includesPropertyValues, forKey: .withoutPropertyValues)
    try container.encodeIfSet(!includesPendingChanges, forKey: .withoutPendingChanges)
    try container.encodeIfSet(!returnsObjectsAsFaults, forKey: .withoutFaults)
    try container.encodeIfSet(returnsDistinctResults, forKey: .distinct)
  }

  /// Reads a template as `Formats/Model/README.md` says.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      entityName: try container.decode(String.self, forKey: .entity),
      predicate: try container.decodeIfPresent(FetchPredicate.self, forKey: .predicate),
      resultType: try container.decodeIfPresent(ResultType.self, forKey: .resultType) ?? .objects,
      fetchLimit: try container.decodeIfPresent(Int.self, forKey: .limit) ?? 0,
      fetchBatchSize: try container.decodeIfPresent(Int.self, forKey: .batchSize) ?? 0,
      includesSubentities: try !container.flag(forKey: .withoutSubentities),
      includesPropertyValues: try !container.flag(forKey: .withoutPropertyValues),
      includesPendingChanges: try !container.flag(forKey: .withoutPendingChanges),
      returnsObjectsAsFaults: try !container.flag(forKey: .withoutFaults),
      returnsDistinctResults: try container.flag(forKey: .distinct)
    )
  }
}
