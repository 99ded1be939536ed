import Foundation

extension ToDo {
  /// What the author of the model adds to a generated class: a line that shows the to-do.
  func line(number: Int) -> String {
    var line = "\(number). [\(done ? "x" : " ")] \(memo ?? "")"
    if priority == .high { line += " !" }
    if let due { line += " (\(due.formatted(.iso8601.year().month().day())))" }
    return line
  }
}
