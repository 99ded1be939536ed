import Foundation

/// The files of this repository.
enum Repository {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  static let example = root.appending(path: "Examples/ToDo")
}
