import HeartwoodModel

extension DataModelReader {
  private static let requestAttributes: Set<String> = [
    "name", "entity", "predicateString", "resultType", "fetchLimit", "fetchBatchSize", "includeSubentities",
    "includePropertyValues", "includesPendingChanges", "returnObjectsAsFaults", "returnDistinctResults",
  ]

  /// The template that a `fetchRequest` describes; nil where its predicate is none that is known, which is noted.
  mutating func fetchRequest(_ element: DataModelElement) throws(ModelFileError) -> FetchRequestTemplate? {
    noteUnknownAttributes(of: element, Self.requestAttributes)
    let name = try element.requiredText("name")
    var predicate: FetchPredicate?
    if let format = element.filledText("predicateString") {
      do throws(FetchPredicateError) {
        predicate = try FetchPredicate(format: format)
      } catch {
        note("The fetch request “\(name)” is not represented in the model: \(error)", element)
        return nil
      }
    }
    let number = try element.number("resultType") ?? 0
    guard let resultType = FetchRequestTemplate.ResultType(dataModelNumber: number) else {
      note(
        "The fetch request “\(name)” is not represented in the model: its result type \(number) is not known.",
        element
      )
      return nil
    }
    return FetchRequestTemplate(
      name: name,
      entityName: try element.requiredText("entity"),
      predicate: predicate,
      resultType: resultType,
      fetchLimit: try element.number("fetchLimit") ?? 0,
      fetchBatchSize: try element.number("fetchBatchSize") ?? 0,
      includesSubentities: try element.flag("includeSubentities", usually: true),
      includesPropertyValues: try element.flag("includePropertyValues", usually: true),
      includesPendingChanges: try element.flag("includesPendingChanges", usually: true),
      returnsObjectsAsFaults: try element.flag("returnObjectsAsFaults", usually: true),
      returnsDistinctResults: try element.flag("returnDistinctResults")
    )
  }

  mutating func fetchedProperty(
    _ element: DataModelElement
  ) throws(ModelFileError) -> FetchedPropertyDescription? {
    noteUnknownAttributes(
      of: element,
      ["name", "optional", "transient", "syncable", "elementID", "versionHashModifier"]
    )
    let name = try element.requiredText("name")
    guard let requestElement = element.children("fetchRequest").first else {
      note("The fetched property “\(name)” has no fetch request: it is not represented in the model.", element)
      return nil
    }
    guard let request = try fetchRequest(requestElement) else { return nil }
    var userInfo: [String: String] = [:]
    for info in element.children("userInfo") { readUserInfo(info, into: &userInfo) }
    return FetchedPropertyDescription(
      name: name,
      fetchRequest: request,
      isOptional: try element.flag("optional"),
      renamingIdentifier: element.filledText("elementID"),
      versionHashModifier: element.filledText("versionHashModifier"),
      userInfo: userInfo
    )
  }
}

extension FetchRequestTemplate.ResultType {
  private static let numbers: [(number: Int, type: Self)] = [
    (0, .objects), (1, .objectIDs), (2, .dictionaries), (4, .count),
  ]

  /// The type that model files give as `number`.
  init?(dataModelNumber number: Int) {
    guard let entry = Self.numbers.first(where: { $0.number == number }) else { return nil }
    self = entry.type
  }

  /// The number by which model files give the type.
  var dataModelNumber: Int { Self.numbers.first { $0.type == self }?.number ?? 0 }
}

// MARK: Indexes

extension DataModelReader {
  mutating func fetchIndex(_ element: DataModelElement) throws(ModelFileError) -> FetchIndexDescription? {
    noteUnknownAttributes(of: element, ["name", "partialIndexPredicate"])
    let name = try element.requiredText("name")
    do throws(FetchPredicateError) {
      let predicate: FetchPredicate? =
        if let format = element.filledText("partialIndexPredicate") { try FetchPredicate(format: format) } else { nil }
      var elements: [FetchIndexElementDescription] = []
      for part in element.children("fetchIndexElement") {
        guard let subject = try subject(of: part) else { continue }
        elements.append(
          FetchIndexElementDescription(
            subject,
            collationType: part.text("type") == "RTree" ? .rTree : .binary,
            isAscending: part.text("order") != "descending"
          )
        )
      }
      return FetchIndexDescription(name: name, elements: elements, partialIndexPredicate: predicate)
    } catch {
      note("The index “\(name)” is not represented in the model: \(error)", element)
      return nil
    }
  }

  private mutating func subject(
    of part: DataModelElement
  ) throws(FetchPredicateError) -> FetchIndexElementDescription.Subject? {
    noteUnknownAttributes(of: part, ["property", "expression", "expressionType", "type", "order"])
    if let format = part.filledText("expression") { return .expression(try FetchExpression(format: format)) }
    if let name = part.filledText("property") { return .property(name) }
    note("A part of an index that names neither a property nor an expression is not represented in the model.", part)
    return nil
  }

  /// The index that an attribute's mark or an entity's compound index stands for, as older versions of Xcode wrote them.
  static func index(over names: [String]) -> FetchIndexDescription {
    let title = names.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "And")
    return FetchIndexDescription(name: "by\(title)Index", properties: names)
  }

  /// The indexes of an entity's `compoundIndexes`, which list names one by one or with commas between them.
  func compoundIndexes(_ element: DataModelElement) -> [FetchIndexDescription] {
    element.children("compoundIndex").compactMap { compound in
      let names = compound.children("index").flatMap { ($0.text("value") ?? "").split(separator: ",") }
      return names.isEmpty ? nil : Self.index(over: names.map { $0.filter { !$0.isWhitespace } })
    }
  }
}
