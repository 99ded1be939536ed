/// The attributes of an element in the order of the document.
struct XMLAttributes: Sendable {
  private(set) var items: [(name: String, value: String)] = []

  var names: [String] { items.map(\.name) }

  /// The value of the attribute called `name`; setting nil takes it away. O(n).
  subscript(name: String) -> String? {
    get { items.first { $0.name == name }?.value }
    set {
      let place = items.firstIndex { $0.name == name }
      switch (place, newValue) {
      case (let place?, let value?): items[place].value = value
      case (let place?, nil): items.remove(at: place)
      case (nil, let value?): items.append((name, value))
      case (nil, nil): break
      }
    }
  }

  /// Adds an attribute of which it is known that there is none of that name. O(1).
  mutating func append(_ name: String, _ value: String) {
    items.append((name, value))
  }
}

extension XMLAttributes: Equatable {
  /// Whether both have the same attributes, in any order.
  static func == (left: XMLAttributes, right: XMLAttributes) -> Bool {
    left.items.count == right.items.count
      && left.items.sorted { $0.name < $1.name }.elementsEqual(right.items.sorted { $0.name < $1.name }, by: ==)
  }
}

extension XMLAttributes: ExpressibleByDictionaryLiteral {
  /// The attributes that have a value.
  init(dictionaryLiteral elements: (String, String?)...) {
    items = elements.compactMap { name, value in value.map { (name, $0) } }
  }
}
