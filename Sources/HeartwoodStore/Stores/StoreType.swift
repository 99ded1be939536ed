/// The name by which a kind of store is registered: `"CSV"`, `"Binary"`, or a name of your own.
///
/// Two names that differ in case only are the same type.
public struct StoreType: Sendable, Hashable, RawRepresentable {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  public init(_ name: String) {
    self.rawValue = name
  }

  public static func == (left: StoreType, right: StoreType) -> Bool {
    left.rawValue.lowercased() == right.rawValue.lowercased()
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(rawValue.lowercased())
  }
}

extension StoreType: ExpressibleByStringLiteral, CustomStringConvertible {
  public init(stringLiteral value: String) {
    self.rawValue = value
  }

  public var description: String { rawValue }
}

extension StoreType {
  /// Heartwood's own columnar file: `Formats/Binary`.
  public static let binary: StoreType = "Binary"
  /// Text with a line for each record: `Formats/CSV`.
  public static let csv: StoreType = "CSV"
  /// Records that live as long as the store is open.
  public static let inMemory: StoreType = "InMemory"
}
