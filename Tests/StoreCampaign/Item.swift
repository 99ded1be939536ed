import Foundation
import Heartwood

/// A record of a campaign.
final class Item: ManagedObject {
  static let saveKey = AttributeKey<Int>("save")
  static let numberKey = AttributeKey<Int>("number")
  static let stampKey = AttributeKey<Int>("stamp")
  static let textKey = AttributeKey<String>("text")
  static let dataKey = AttributeKey<Data?>("data")
  static let firstKey = ToOneKey<Item>("first")
  static let othersKey = ToManyKey<Item>("others")

  /// The save that the item was made by.
  var save: Int {
    get { self[Self.saveKey] }
    set { self[Self.saveKey] = newValue }
  }

  /// Which of the items of its save it is.
  var number: Int {
    get { self[Self.numberKey] }
    set { self[Self.numberKey] = newValue }
  }

  /// The last save.
  var stamp: Int {
    get { self[Self.stampKey] }
    set { self[Self.stampKey] = newValue }
  }

  var text: String {
    get { self[Self.textKey] }
    set { self[Self.textKey] = newValue }
  }

  var data: Data? {
    get { self[Self.dataKey] }
    set { self[Self.dataKey] = newValue }
  }

  var first: Item? {
    get { self[Self.firstKey] }
    set { self[Self.firstKey] = newValue }
  }

  var others: [Item] { self[Self.othersKey] }
}
