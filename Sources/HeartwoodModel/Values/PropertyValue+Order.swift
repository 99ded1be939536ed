#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PropertyValue {
  /// Whether this comes before `other`: numbers or dates of one type, none of them a NaN. Anything else has no order.
  package func isLess(than other: PropertyValue) -> Bool {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): a < b
    case (.decimal(let a), .decimal(let b)): a < b
    case (.double(let a), .double(let b)): a < b
    case (.float(let a), .float(let b)): a < b
    case (.date(let a), .date(let b)): a < b
    default: false
    }
  }

  /// Whether this is a number or a date that is none.
  package var isNaN: Bool {
    switch self {
    case .decimal(let number): number.isNaN
    case .double(let number): number.isNaN
    case .float(let number): number.isNaN
    case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
    default: false
    }
  }
}
