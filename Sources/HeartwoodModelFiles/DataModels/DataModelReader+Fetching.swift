import HeartwoodFormats
import HeartwoodModel

extension DataModelReader {
  private static let requestAttributes: Set<String> = [
    "name", "entity", "predicateString", "resultType", "fetchLimit", "fetchBatchSize", "includeSubentities",
    "includePropertyValues", "includesPendingChanges", "returnObjectsAsFaults", "returnDistinctResults",
  ]

  /// Returns the template in a `fetchRequest` element; nil if its predicate or its result type is not known, which is
  /// noted.
  mutating func fetchRequest(_ element: DataModelElement) throws(ModelFileError) -> FetchRequestTemplate? {
    noteUnknown(in: element, attributes: Self.requestAttributes)
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
    noteUnknown(
      in: element,
      attributes: ["name", "optional", "transient", "syncable", "elementID", "versionHashModifier"],
      parts: ["fetchRequest", "userInfo"]
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

  /// Creates the type with a number in model files.
  init?(dataModelNumber number: Int) {
    guard let entry = Self.numbers.first(where: { $0.number == number }) else { return nil }
    self = entry.type
  }

  /// The number of the type in model files.
  var dataModelNumber: Int { Self.numbers.first { $0.type == self }?.number ?? 0 }
}

// MARK: Indexes

extension DataModelReader {
  mutating func fetchIndex(_ element: DataModelElement) throws(ModelFileError) -> FetchIndexDescription? {
    noteUnknown(in: element, attributes: ["name", "partialIndexPredicate"], parts: ["fetchIndexElement"])
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
    noteUnknown(in: part, attributes: ["property", "expression", "expressionType", "type", "order"])
    if let format = part.filledText("expression") { return .expression(try FetchExpression(format: format)) }
    if let name = part.filledText("property") { return .property(name) }
    note("A part of an index that names neither a property nor an expression is not represented in the model.", part)
    return nil
  }

  /// Returns the index for an attribute that is marked as indexed, or for a compound index. Older versions of Xcode
  /// wrote these.
  static func index(over names: [String]) -> FetchIndexDescription {
    let title = names.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "And")
    return FetchIndexDescription(name: "by\(title)Index", properties: names)
  }

  /// Returns the indexes in `compoundIndexes`. Names are listed in separate elements, or separated by commas.
  mutating func compoundIndexes(_ element: DataModelElement) -> [FetchIndexDescription] {
    noteUnknown(in: element, attributes: [], parts: ["compoundIndex"])
    return element.children("compoundIndex").compactMap { compound in
      noteUnknown(in: compound, attributes: [], parts: ["index"])
      let indexes = compound.children("index")
      for index in indexes { noteUnknown(in: index, attributes: ["value"]) }
      let names = indexes.flatMap { ($0.text("value") ?? "").split(separator: ",") }
      return names.isEmpty ? nil : Self.index(over: names.map { $0.filter { !$0.isWhitespace } })
    }
  }
}

// MARK: Rules

extension AttributeType {
  /// The XML attributes for default values and rules, for all types.
  static let dataModelValues = allCases.reduce(into: ["defaultValueString", "defaultDateTimeInterval"] as Set) {
    $0.formUnion($1.dataModelRules)
  }

  /// The XML attributes for rules of the type. For dates, the texts are only for the user of the editor.
  var dataModelRules: Set<String> {
    switch self {
    case .date: ["minDateTimeInterval", "maxDateTimeInterval", "minValueString", "maxValueString"]
    case .string: ["minValueString", "maxValueString", "regularExpressionString"]
    default: hasRange ? ["minValueString", "maxValueString"] : []
    }
  }
}

extension DataModelReader {
  /// Returns the rules of an attribute. Rules for another type are ignored, since they are left over from a change of
  /// the type. A rule that cannot be understood is noted, because values are not checked by it.
  mutating func rules(of element: DataModelElement, _ type: AttributeType) -> AttributeRules {
    var rules = AttributeRules()
    switch type {
    case .string:
      rules.minLength = length("minValueString", of: element)
      rules.maxLength = length("maxValueString", of: element)
      rules.pattern = pattern(of: element)
    case .date:
      rules.minValue = boundingDate("min", of: element)
      rules.maxValue = boundingDate("max", of: element)
    case _ where type.hasRange:
      rules.minValue = bound("minValueString", of: element, type)
      rules.maxValue = bound("maxValueString", of: element, type)
    default: break
    }
    leaveOutContradictions(in: &rules, of: element)
    return rules
  }

  /// Removes bounds that no value meets, since the least one is above the greatest one.
  private mutating func leaveOutContradictions(in rules: inout AttributeRules, of element: DataModelElement) {
    let isAbove = (rules.minLength ?? 0) > (rules.maxLength ?? .max)
    guard isAbove || rules.maxValue.isLess(than: rules.minValue) else { return }
    let name = element.text("name") ?? ""
    note("The least value or length of “\(name)” is above the greatest: values are not checked against them.", element)
    (rules.minLength, rules.maxLength, rules.minValue, rules.maxValue) = (nil, nil, .null, .null)
  }

  private mutating func noteRule(_ name: String, of element: DataModelElement, _ reason: String) {
    note("“\(name)” of “\(element.text("name") ?? "")” \(reason): values are not checked against it.", element)
  }

  private mutating func pattern(of element: DataModelElement) -> String? {
    let name = "regularExpressionString"
    guard let pattern = element.filledText(name) else { return nil }
    do throws(TextPattern.Fault) {
      _ = try TextPattern(pattern)
      return pattern
    } catch {
      noteRule(name, of: element, "cannot be used (\(error.message))")
      return nil
    }
  }

  /// Returns a minimum or maximum length, which a string attribute has in place of a least or greatest value.
  private mutating func length(_ name: String, of element: DataModelElement) -> Int? {
    guard let text = element.filledText(name) else { return nil }
    if case .integer(let number)? = Self.number(text, .integer64), number >= 0, let length = Int(exactly: number) {
      return length
    }
    noteRule(name, of: element, "is not a length")
    return nil
  }

  private mutating func bound(_ name: String, of element: DataModelElement, _ type: AttributeType) -> PropertyValue {
    guard let text = element.filledText(name) else { return .null }
    if let value = Self.number(text, type), !value.isNaN { return value }
    noteRule(name, of: element, "is not a value of the type \(type.dataModelName)")
    return .null
  }

  private mutating func boundingDate(_ end: String, of element: DataModelElement) -> PropertyValue {
    let name = end + "DateTimeInterval"
    guard let text = element.filledText(name) else {
      if element.filledText(end + "ValueString") != nil {
        noteRule("\(end)ValueString", of: element, "gives a date only as a text for people")
      }
      return .null
    }
    if let value = PropertyValue(text: text, type: .date), !value.isNaN { return value }
    noteRule(name, of: element, "is not a number of seconds")
    return .null
  }
}
