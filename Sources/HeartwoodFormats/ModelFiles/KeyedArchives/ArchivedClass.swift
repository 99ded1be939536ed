/// A class by which an archive calls an object, with those that it inherits from.
struct ArchivedClass: Hashable, Sendable {
  let name: String
  /// From the next one up to the last.
  let ancestors: [String]

  init(_ name: String, _ ancestors: String...) {
    self.name = name
    self.ancestors = ancestors + ["NSObject"]
  }
}

extension ArchivedClass {
  static let array = ArchivedClass("NSArray")
  static let mutableArray = ArchivedClass("NSMutableArray", "NSArray")
  static let set = ArchivedClass("NSSet")
  static let dictionary = ArchivedClass("NSDictionary")
  static let mutableDictionary = ArchivedClass("NSMutableDictionary", "NSDictionary")

  static let date = ArchivedClass("NSDate")
  static let uuid = ArchivedClass("NSUUID")
  static let url = ArchivedClass("NSURL")
  static let decimalNumber = ArchivedClass("NSDecimalNumber", "NSNumber", "NSValue")
}
