import ArgumentParser
import Heartwood

/// What the model of a case has beside the attributes of a to-do.
enum ModelAddition: String, ExpressibleByArgument, CaseIterable {
  /// No two to-dos have the same place.
  case unique
  /// To-dos are found fast by their place.
  case index
  /// Each to-do keeps its memo without case and accents.
  case derived

  func add(to entity: inout EntityDefinition) throws {
    switch self {
    case .unique: entity.uniquenessConstraints = [["sortOrder"]]
    case .index: entity.fetchIndexes = [FetchIndexDescription(name: "byPlace", properties: ["sortOrder"])]
    case .derived: entity.properties.append(try Self.plainMemo())
    }
  }

  private static func plainMemo() throws -> PropertyDescription {
    let expression = try FetchExpression(format: "canonical:(memo)")
    return .attribute(
      AttributeDescription(name: "plainMemo", type: .string, isOptional: true, derivationExpression: expression)
    )
  }
}
