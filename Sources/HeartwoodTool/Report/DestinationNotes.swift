/// What is to be known of a file that was written as another type, in words for the user.
enum DestinationNotes {
  static func renamedRecords(of source: String) -> String {
    "The type gives references of its own: the records have other ones than in \(source)."
  }

  /// - Parameter source: the store whose file keeps the model.
  static func lackingModel(of source: String) -> String {
    noModel + "--model \(source), or with the copy that heartwood model convert \(source) NAME.json makes."
  }

  /// - Parameter model: the file of the model.
  static func lackingModel(at model: String) -> String { noModel + "--model \(model)." }

  private static let noModel = "The type keeps no model. Open the file with "
}
