import Heartwood

/// How soon a chore has to be done: the type of an attribute by the user info of the model.
enum Urgency: Int16, AttributeValue {
  case whenever, soon, now

  static let absentValue = whenever
}

/// Where a chore is to be done, which the store keeps as JSON.
struct Place: CodableAttributeValue, Equatable {
  var room = ""
  var floor = 0

  static let absentValue = Place()
}

extension Chore {
  /// What the author of the model adds to a generated class.
  var isPressing: Bool { urgency == .now || steps.count > 5 }
}
