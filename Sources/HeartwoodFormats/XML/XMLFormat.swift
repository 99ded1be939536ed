import HeartwoodModel
import HeartwoodStore

/// The words of which Core Data's XML consists: `Formats/XML` is the specification.
enum XMLFormat {
  static let prologue = """
    <?xml version="1.0"?>
    <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">


    """
  /// What Core Data writes as the version of the form.
  static let version = "134481920"
  /// The least number that Core Data gives to a record.
  static let firstNumber: Int64 = 102
  /// The longest list of references that is written: libxml2 reads attributes of up to a billion bytes.
  static let longestReferenceList = 900_000_000
  /// The longest text that is written, as every reader takes it unless it is told otherwise.
  static let longestText = XMLLimits().textLength

  /// The name of an entity in a file.
  static func fileName(ofEntity name: String) -> String { name.uppercased() }

  /// The name of a property in a file.
  static func fileName(ofProperty name: String) -> String { name.lowercased() }

  /// The name of a type in a file.
  static func typeName(_ type: AttributeType) -> String {
    switch type {
    case .integer16: "int16"
    case .integer32: "int32"
    case .integer64: "int64"
    case .decimal: "decimal"
    case .double: "double"
    case .float: "float"
    case .string: "string"
    case .boolean: "bool"
    case .date: "date"
    case .binary: "binary"
    case .uuid: "uuid"
    case .uri: "uri"
    case .transformable: "transformable"
    case .undefined: "undefined"
    }
  }

  /// The types whose names in Core Data's files are known; of the others, files of other programs may have other names.
  static let knownTypes: Set<AttributeType> = [
    .integer16, .integer32, .integer64, .float, .string, .boolean, .date, .binary,
  ]

  /// The least and the greatest count of a relationship, as Core Data writes them.
  static func counts(_ relationship: RelationshipDescription) -> String {
    relationship.isToMany ? "\(relationship.minCount)/\(relationship.maxCount)" : "1/1"
  }
}
