#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PropertyValue: CustomStringConvertible {
  /// The value for a debugger or a test; error texts do not show values.
  ///
  /// A date stands as its seconds since 2001: Foundation's own description traps on dates that are not finite or far away.
  public var description: String {
    switch self {
    case .null: "nil"
    case .integer(let number): "\(number)"
    case .decimal(let number): "decimal \(number)"
    case .double(let number): "double \(number)"
    case .float(let number): "float \(number)"
    case .string(let string): string.debugDescription
    case .boolean(let flag): "\(flag)"
    case .date(let date): "date \(date.timeIntervalSinceReferenceDate)"
    case .binary(let data): "\(data.count) bytes"
    case .uuid(let uuid): uuid.uuidString
    case .uri(let url): "<\(url.absoluteString)>"
    case .toOne(let object): object.description
    case .toMany(let objects): "\(objects)"
    }
  }
}
