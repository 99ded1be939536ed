/// The elements of a mapping model's file, and the values of each that are read or mean nothing to a migration.
enum MappingModelForm {
  static let model = "XDDevMappingModel"
  static let entityMapping = "XDDevEntityMapping"
  static let attributeMapping = "XDDevAttributeMapping"
  static let relationshipMapping = "XDDevRelationshipMapping"

  /// The names of values and relationships by the name of their element, in small letters as files have them.
  static let names: [String: Set<String>] = [
    model: [
      "entitymappings", "sourcemodelpath", "sourcemodeldata", "destinationmodelpath", "destinationmodeldata",
      "userinfodata",
    ],
    entityMapping: [
      "name", "mappingtypename", "mappingnumber", "sourcename", "destinationname", "sourcefilterpredicatestring",
      "sourceexpressiondata", "autogenerateexpression", "migrationpolicyclassname", "userinfodata", "mappingmodel",
      "attributemappings", "relationshipmappings",
    ],
    attributeMapping: property,
    relationshipMapping: property.union(["sourcekeypath", "sourcemappingname"]),
  ]

  private static let property: Set<String> = [
    "name", "autogenerateexpression", "valueexpressiondata", "userinfodata", "entitymapping",
  ]
}
