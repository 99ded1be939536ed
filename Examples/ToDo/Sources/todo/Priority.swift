import ArgumentParser
import Heartwood

/// How much a to-do matters: the type of an attribute by the user info of the model.
enum Priority: Int16, AttributeValue, CaseIterable, ExpressibleByArgument {
  case normal, high

  static let absentValue = normal

  init?(argument: String) {
    guard let priority = Self.allCases.first(where: { "\($0)" == argument }) else { return nil }
    self = priority
  }

  static var allValueStrings: [String] { allCases.map { "\($0)" } }
}
