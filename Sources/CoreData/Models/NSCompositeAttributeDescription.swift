import Foundation
import HeartwoodModel

/// An attribute that consists of other attributes. Its value is a dictionary of their values.
///
///     let latitude = NSAttributeDescription()
///     latitude.name = "latitude"
///     latitude.attributeType = .doubleAttributeType
///     let place = NSCompositeAttributeDescription()
///     place.name = "place"
///     place.elements = [latitude]
///
///     campground.setValue(["latitude": 40.7], forKey: "place")
///     request.predicate = NSPredicate(format: "place.latitude > 30")
open class NSCompositeAttributeDescription: NSAttributeDescription {
  /// The parts, each an attribute, which may be composite itself.
  open var elements: [NSAttributeDescription] = [] { willSet { checkMutable() } }
  /// The name of the composite type in the model file.
  private var typeName: String?
  /// The attributes of the entity that keep the parts, once the model is used.
  private final var parts: [Part] = []

  /// A part, which the entity keeps as an attribute of its own.
  private struct Part {
    let path: [String]
    let attributeName: String
  }

  /// Creates an attribute without parts.
  public override init() {
    super.init()
    attributeType = .compositeAttributeType
  }

  override class func makeEmpty() -> NSPropertyDescription { NSCompositeAttributeDescription() }

  override func copyValues(to copy: NSPropertyDescription) {
    super.copyValues(to: copy)
    guard let copy = copy as? NSCompositeAttributeDescription else { return }
    copy.typeName = typeName
    copy.elements = elements.compactMap { $0.copy() as? NSAttributeDescription }
  }
}

// MARK: In Heartwood's form

extension NSCompositeAttributeDescription {
  /// The greatest depth of parts in parts. A composite attribute that is a part of itself is deeper.
  private static let greatestDepth = 16

  /// Returns the description of the attribute, which names the attributes of its parts.
  ///
  /// - Throws: a `CocoaError` if it has no parts, or is a part of itself.
  final func description() throws -> CompositeAttributeDescription {
    parts = try leaves().map { path, _ in Part(path: path, attributeName: attributeName(path)) }
    return CompositeAttributeDescription(
      name: name,
      compositeName: typeName ?? name,
      elements: parts.map { .init(name: $0.path.joined(separator: "."), attributeName: $0.attributeName) },
      userInfo: notes
    )
  }

  /// Returns the attributes of the parts, as attributes of the entity. A part may lack a value if the whole may.
  ///
  /// - Throws: a `CocoaError` if it has no parts, or is a part of itself.
  final func partAttributes() throws -> [NSAttributeDescription] {
    try leaves().compactMap { path, element in
      guard let part = element.copy() as? NSAttributeDescription else { return nil }
      part.name = attributeName(path)
      part.isOptional = element.isOptional || isOptional
      part.isTransient = element.isTransient || isTransient
      part.versionHashModifier = element.versionHashModifier ?? versionHashModifier
      part.renamingIdentifier = try renamingIdentifier(of: element, at: path)
      return part
    }
  }

  private final func renamingIdentifier(of element: NSAttributeDescription, at path: [String]) throws -> String? {
    if renamingIdentifier == nil, element.renamingIdentifier == nil { return nil }
    let former = path.dropLast() + [element.renamingIdentifier ?? element.name]
    return ([renamingIdentifier ?? name] + former).joined(separator: "_")
  }

  private final func attributeName(_ path: [String]) -> String { ([name] + path).joined(separator: "_") }

  private final func leaves(
    depth: Int = greatestDepth
  ) throws -> [(path: [String], attribute: NSAttributeDescription)] {
    guard !elements.isEmpty else { throw CocoaError.modelFault("The composite attribute \(name) has no elements.") }
    guard depth > 0 else { throw CocoaError.modelFault("The composite attribute \(name) is a part of itself.") }
    return try elements.flatMap { element in
      guard let composite = element as? NSCompositeAttributeDescription else { return [([element.name], element)] }
      return try composite.leaves(depth: depth - 1).map { ([element.name] + $0.path, $0.attribute) }
    }
  }

  /// Creates the description of a composite attribute whose parts are among the attributes of an entity.
  convenience init(_ composite: CompositeAttributeDescription, among attributes: [NSAttributeDescription]) {
    self.init()
    name = composite.name
    typeName = composite.compositeName
    userInfo = composite.userInfo
    let leaves = composite.elements.compactMap { element in
      attributes.first { $0.name == element.attributeName }.map {
        (path: element.name.split(separator: ".").map(String.init), attribute: $0)
      }
    }
    elements = Self.elements(leaves)
    isOptional = leaves.allSatisfy { $0.attribute.isOptional }
    isTransient = !leaves.isEmpty && leaves.allSatisfy { $0.attribute.isTransient }
  }

  private static func elements(
    _ leaves: [(path: [String], attribute: NSAttributeDescription)]
  ) -> [NSAttributeDescription] {
    var names: [String] = []
    for name in leaves.compactMap(\.path.first) where !names.contains(name) { names.append(name) }
    return names.compactMap { name in
      let parts = leaves.filter { $0.path.first == name }
      if parts.count == 1, parts[0].path.count == 1 {
        let element = parts[0].attribute.copy() as? NSAttributeDescription
        element?.name = name
        return element
      }
      let composite = NSCompositeAttributeDescription()
      composite.name = name
      composite.elements = elements(parts.map { (path: Array($0.path.dropFirst()), attribute: $0.attribute) })
      composite.isOptional = parts.allSatisfy { $0.attribute.isOptional }
      return composite
    }
  }
}

// MARK: Values

extension NSCompositeAttributeDescription {
  /// Returns the dictionary of the values that `read` gives for the parts; nil if there is none.
  ///
  /// - Parameter read: returns the value of an attribute of the entity.
  final func dictionary(_ read: (String) -> Any?) -> [String: Any]? {
    let values = parts.compactMap { part in read(part.attributeName).map { (path: part.path, value: $0) } }
    return values.isEmpty ? nil : Self.nested(values)
  }

  private static func nested(_ values: [(path: [String], value: Any)]) -> [String: Any] {
    var dictionary: [String: Any] = [:]
    for (name, parts) in Dictionary(grouping: values, by: { $0.path[0] }) {
      let inner = parts.map { (path: Array($0.path.dropFirst()), value: $0.value) }
      dictionary[name] = inner[0].path.isEmpty ? inner[0].value : nested(inner)
    }
    return dictionary
  }

  /// Returns the values of the entity's attributes for a value of the whole: a dictionary, or nil.
  final func values(of value: Any?) -> [(attributeName: String, value: Any?)] {
    guard let value = unwrapped(value) else { return parts.map { ($0.attributeName, nil) } }
    guard let dictionary = value as? [String: Any] else {
      ProgrammerError.stop(
        "The value of the composite attribute \(name) is a \(Swift.type(of: value)), and no dictionary."
      )
    }
    check(dictionary, behind: [])
    return parts.map { part in
      let found = part.path.reduce(dictionary as Any?) { value, key in
        value.flatMap { unwrapped($0) as? [String: Any] }?[key]
      }
      return (part.attributeName, unwrapped(found))
    }
  }

  private final func check(_ dictionary: [String: Any], behind outer: [String]) {
    for (key, value) in dictionary {
      let path = outer + [key]
      ProgrammerError.check(
        parts.contains { $0.path.starts(with: path) },
        "The composite attribute \(name) has no part called \(path.joined(separator: "."))."
      )
      if let inner = value as? [String: Any] { check(inner, behind: path) }
    }
  }

  /// Returns the attribute of the entity that keeps the part at a path.
  final func attributeName(ofPart path: [String]) -> String? { parts.first { $0.path == path }?.attributeName }

  /// Returns changed or committed values with dictionaries in place of the values of parts.
  ///
  /// - Parameter whole: returns the whole value of the attribute.
  final func gather(_ values: inout [String: Any], _ whole: (String) -> Any?) {
    let names = parts.map(\.attributeName).filter { values[$0] != nil }
    if names.isEmpty { return }
    for name in names { values[name] = nil }
    values[name] = whole(name) ?? NSNull()
  }
}
