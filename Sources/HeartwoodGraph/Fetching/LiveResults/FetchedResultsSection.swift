public import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A section of live results, as it was when it was asked for.
public struct FetchedResultsSection<Object: ManagedObject> {
  /// The name: the text of the value that makes the section; empty where there is none.
  public let name: String
  /// The value that is the name; `null` for results without sections.
  public let value: PropertyValue
  /// What stands for the section in an index at the side of a list; nil where nothing does.
  public let indexTitle: String?
  /// The objects.
  public let objects: FetchedObjects<Object>

  /// How many objects there are.
  public var numberOfObjects: Int { objects.count }
}

extension LiveSection {
  /// The value that makes the section, as text.
  var name: String { key.name.sectionName }
}

extension PropertyValue {
  fileprivate var sectionName: String {
    switch self {
    case .null: ""
    case .string(let text): text
    case .boolean(let flag): flag ? "true" : "false"
    case .integer(let number): String(number)
    case .double(let number): String(number)
    case .float(let number): String(number)
    case .decimal(let number): number.description
    case .date: text(of: .date) ?? ""
    case .uuid(let uuid): uuid.uuidString
    case .uri(let uri): uri.absoluteString
    case .binary, .toOne, .toMany: description
    }
  }
}
