@_spi(CoreDataFiles) import HeartwoodFormats
import HeartwoodModel

/// Converts a model of Xcode 3 to the elements of newer source files, so that the same rules apply to both.
///
/// The file is a keyed archive of a diagram: a package with classes for entities, whose owned attributes are the
/// properties. Their settings are in stereotypes, which are lists of named values.
///
/// The form also has fetched properties, fetch requests, configurations, indexes and uniqueness constraints, but no
/// example of these is known. They are noted.
struct LegacyModelReader {
  private static let modelClass = "XDPMModel"
  private static let unreadSettings = [
    ("XD_PSK_fetchRequestsArray", "fetch requests"), ("XDPMCompoundIndexes", "compound indexes"),
    ("XDPMUniquenessConstraints", "uniqueness constraints"),
  ]

  private var notes: [String] = []

  static func read(_ bytes: [UInt8]) throws(ArchiveError) -> (root: XMLElement, notes: [String]) {
    let archive = try KeyedArchive(bytes)
    guard let model = archive.root, model.className == modelClass,
      let entities = model["_xd_rootPackage"]?["XDBucketForClassesstorage"]
    else { throw ArchiveError(message: "The archive does not contain a model.") }
    let members = entities.members.sorted { $0.key < $1.key }
    var reader = LegacyModelReader()
    let root = XMLElement(
      "model",
      [
        "type": "com.apple.IDECoreDataModeler.DataModel",
        "userDefinedModelVersionIdentifier": model["_modelVersionIdentifier"]?.string ?? "",
      ],
      children: members.map { reader.entity($0.value, name: $0.key) }
    )
    for configuration in model["_configurationsByName"]?.members ?? [] {
      reader.notes.append("The configuration “\(configuration.key)” is not represented in the model.")
    }
    guard !archive.isExhausted else {
      throw ArchiveError(
        message: "The objects refer to one another too many times. This is not a model that Xcode made."
      )
    }
    return (root, reader.notes)
  }

  private mutating func entity(_ entity: ArchiveNode, name: String) -> XMLElement {
    let settings = LegacySettings(entity)
    for (setting, title) in Self.unreadSettings where !(settings[setting]?.items ?? []).isEmpty {
      notes.append("The \(title) of “\(name)” are not represented in the model.")
    }
    let className = settings["XD_PSK_entityClassName"]?.string
    let parent = entity["XDBucketForGeneralizationsstorage"].flatMap(Self.first)?["_general"]?["_name"]?.string
    let properties = (entity["XDBucketForOwnedAttributesstorage"]?.members ?? []).sorted { $0.key < $1.key }
    return XMLElement(
      "entity",
      [
        "name": name,
        "representedClassName": className.flatMap { $0 == "NSManagedObject" ? nil : $0 },
        "isAbstract": settings.flag("XD_PSK_isAbstract"),
        "parentEntity": parent,
        "elementID": settings["XD_PSK_elementID"]?.string,
        "versionHashModifier": settings["XD_PSK_versionHashModifier"]?.string,
      ],
      children: properties.compactMap { property($0.value, name: $0.key, of: name) }
        + settings.userInfo("XD_PSK_userInfo")
    )
  }

  /// Returns the only item in a bucket, which is an array, a set or a dictionary.
  private static func first(_ bucket: ArchiveNode) -> ArchiveNode? {
    let members = bucket.members
    return members.isEmpty ? bucket.items.first : members.first?.value
  }

  private mutating func property(_ property: ArchiveNode, name: String, of entity: String) -> XMLElement? {
    let settings = LegacySettings(property)
    switch property.className {
    case "XDPMRelationship": return relationship(settings, name)
    case "XDPMAttribute": return attribute(settings, name)
    default:
      notes.append("The property “\(name)” of “\(entity)” is not represented in the model.")
      return nil
    }
  }

  private func attribute(_ settings: LegacySettings, _ name: String) -> XMLElement {
    let code = settings["XD_PAttK_attributeType"]?.integer ?? 0
    var element = XMLElement(
      "attribute",
      [
        "name": name,
        "optional": settings.flag("XD_PPSK_isOptional"),
        "transient": settings.flag("XD_PPSK_isTransient"),
        "attributeType": AttributeType.dataModelName(coreDataCode: code),
        "minValueString": settings["XD_PAttK_minValueString"]?.string,
        "maxValueString": settings["XD_PAttK_maxValueString"]?.string,
        "regularExpressionString": settings["XD_PAttK_regularExpressionString"]?.string,
        "valueTransformerName": settings["XD_PAttK_valueTransformerName"]?.string,
        "allowsExternalBinaryDataStorage": settings.flag("XD_PAttK_allowsExternalBinaryDataStorage"),
        "indexed": settings.flag("XD_PPSK_isIndexed"),
        "elementID": settings["XD_PPSK_elementID"]?.string,
        "versionHashModifier": settings["XD_PPSK_versionHashModifier"]?.string,
      ],
      children: settings.userInfo("XD_PPSK_userInfo")
    )
    element.attributes["defaultValueString"] = settings["XD_PAttK_defaultValueAsString"]?.string
    return element
  }

  private func relationship(_ settings: LegacySettings, _ name: String) -> XMLElement {
    let rules = ["No Action", "Nullify", "Cascade", "Deny"]
    let rule = settings["XD_PRK_deleteRule"]?.integer ?? 1
    let destination = settings["XD_PRK_destination"]?["_name"]?.string
    let inverse = settings["XD_PRK_inverseRelationship"]?["_name"]?.string
    let isToMany = settings["XD_PRK_isToMany"]?.isTrue == true
    // A to-many relationship that once was a to-one relationship may still have counts of one.
    let counts = [settings["XD_PRK_minCount"]?.integer, settings["XD_PRK_maxCount"]?.integer].map { $0 ?? 0 }
    return XMLElement(
      "relationship",
      [
        "name": name,
        "optional": settings.flag("XD_PPSK_isOptional"),
        "transient": settings.flag("XD_PPSK_isTransient"),
        "toMany": isToMany ? "YES" : nil,
        "minCount": counts[0] == 0 ? nil : "\(counts[0])",
        "maxCount": isToMany ? (counts[1] <= 1 ? nil : "\(counts[1])") : "1",
        "ordered": settings.flag("XD_PRK_ordered"),
        "deletionRule": rules.indices.contains(rule) ? rules[rule] : "rule \(rule)",
        "destinationEntity": destination,
        "inverseName": inverse,
        "inverseEntity": inverse == nil ? nil : destination,
        "indexed": settings.flag("XD_PPSK_isIndexed"),
        "elementID": settings["XD_PPSK_elementID"]?.string,
        "versionHashModifier": settings["XD_PPSK_versionHashModifier"]?.string,
      ],
      children: settings.userInfo("XD_PPSK_userInfo")
    )
  }
}

/// The settings in the stereotypes of an entity or a property, by name.
struct LegacySettings {
  private let values: [String: ArchiveNode]

  init(_ element: ArchiveNode) {
    var values: [String: ArchiveNode] = [:]
    for stereotype in element["XDBucketForStereotypesstorage"]?.members ?? [] {
      for setting in stereotype.value["XDBucketForOwnedAttributesstorage"]?.members ?? [] {
        values[setting.key] = setting.value["_default"]
      }
    }
    self.values = values
  }

  subscript(name: String) -> ArchiveNode? { values[name] }

  func flag(_ name: String) -> String? {
    values[name]?.isTrue == true ? "YES" : nil
  }

  /// Returns the entries of a user info whose values are strings. Other entries belong to the editor.
  func userInfo(_ name: String) -> [XMLElement] {
    let entries = (values[name]?.members ?? []).compactMap { key, value in value.string.map { (key, $0) } }
      .filter { $0.0 != "com.apple.syncservices.Syncable" }.sorted { $0.0 < $1.0 }
    guard !entries.isEmpty else { return [] }
    return [XMLElement("userInfo", children: entries.map { XMLElement("entry", ["key": $0.0, "value": $0.1]) })]
  }
}
