import CLibXML2

/// A start tag, as libxml2 lays it out: valid for the length of the call that brings it.
struct XMLTag {
  /// A name that libxml2 keeps once for the whole document, so that equal names are equal pointers.
  typealias Name = UnsafePointer<xmlChar>

  /// libxml2 gives five pointers for each attribute: name, prefix, namespace, and the ends of the value.
  private static let pointersPerAttribute = 5

  let name: Name
  private let prefix: Name?
  let attributeCount: Int
  private let attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?

  init(
    name: Name,
    prefix: Name?,
    attributeCount: Int,
    attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
  ) {
    self.name = name
    self.prefix = prefix
    self.attributeCount = attributes == nil ? 0 : max(0, attributeCount)
    self.attributes = attributes
  }

  var hasPrefix: Bool { prefix != nil }

  /// The name, with its prefix where it has one.
  var qualifiedName: String { Self.text(name, prefix) }

  /// The name of an attribute, with its prefix where it has one.
  func qualifiedName(_ index: Int) -> String {
    guard let attributes else { return "" }
    let place = index * Self.pointersPerAttribute
    return Self.text(attributes[place], attributes[place + 1])
  }

  private static func text(_ name: Name?, _ prefix: Name?) -> String {
    let name = name.map { String(cString: $0) } ?? ""
    return prefix.map { String(cString: $0) + ":" + name } ?? name
  }

  /// The name of an attribute, or nil where it has a prefix.
  @inline(__always)
  func name(_ index: Int) -> Name? {
    guard let attributes, attributes[index &* Self.pointersPerAttribute &+ 1] == nil else { return nil }
    return attributes[index &* Self.pointersPerAttribute]
  }

  @inline(__always)
  func value(_ index: Int) -> UnsafeRawBufferPointer {
    guard let attributes, let start = attributes[index &* Self.pointersPerAttribute &+ 3],
      let end = attributes[index &* Self.pointersPerAttribute &+ 4]
    else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return UnsafeRawBufferPointer(start: start, count: end - start)
  }
}

/// Names that a reader looks for, as the document's own pointers.
///
/// An unsafe place: ``addresses`` is written in `init` only, has ``count`` elements, and is freed in `deinit`.
final class XMLNames {
  private let addresses: UnsafeMutablePointer<XMLTag.Name?>
  private let count: Int

  /// The places of the names in the order of `names`.
  init(_ names: [String], _ context: xmlParserCtxtPtr) {
    count = names.count
    addresses = .allocate(capacity: max(1, names.count))
    for (index, name) in names.enumerated() {
      // The dictionary keeps names of such lengths for as long as the document is read.
      (addresses + index).initialize(to: xmlDictLookup(context.pointee.dict, name, Int32(name.utf8.count)))
    }
  }

  deinit {
    addresses.deinitialize(count: count)
    addresses.deallocate()
  }

  /// The place of `name` among the names, or nil where it is none of them.
  @inline(__always)
  func index(of name: XMLTag.Name) -> Int? {
    var index = 0
    while index < count {
      if addresses[index] == name { return index }
      index &+= 1
    }
    return nil
  }
}
