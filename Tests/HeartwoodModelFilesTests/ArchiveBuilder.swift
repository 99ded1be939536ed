import Foundation

/// Makes keyed archives, as tools other than this project's lay them out.
final class ArchiveBuilder {
  /// What an object has under a key.
  enum Field {
    case integer(Int)
    case flag(Bool)
    case real(Double)
    case data([UInt8])
    case reference(Int)
    case references([Int])
  }

  private var objects = ["<string>$null</string>"]
  private var classes: [String: Int] = [:]

  /// Takes a number for an object that is set later.
  func reserve() -> Int {
    objects.append("<string>$null</string>")
    return objects.count - 1
  }

  func text(_ text: String) -> Int {
    let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    objects.append("<string>\(escaped)</string>")
    return objects.count - 1
  }

  func value(_ field: Field) -> Int {
    objects.append(Self.xml(field))
    return objects.count - 1
  }

  func object(_ className: String, _ fields: [String: Field], at number: Int? = nil) -> Int {
    let number = number ?? reserve()
    var members = fields
    members["$class"] = .reference(classNumber(className))
    objects[number] =
      "<dict>" + members.sorted { $0.key < $1.key }.map { "<key>\($0.key)</key>" + Self.xml($0.value) }.joined()
      + "</dict>"
    return number
  }

  func array(_ items: [Int]) -> Int { object("NSArray", ["NS.objects": .references(items)]) }

  func dictionary(_ members: [String: Int]) -> Int {
    let sorted = members.sorted { $0.key > $1.key }
    return object(
      "NSDictionary",
      ["NS.keys": .references(sorted.map { text($0.key) }), "NS.objects": .references(sorted.map(\.value))]
    )
  }

  private func classNumber(_ name: String) -> Int {
    if let number = classes[name] { return number }
    objects.append("<dict><key>$classname</key><string>\(name)</string></dict>")
    classes[name] = objects.count - 1
    return objects.count - 1
  }

  func xml(root: Int) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0"><dict><key>$archiver</key><string>NSKeyedArchiver</string><key>$objects</key>
    <array>\(objects.joined(separator: "\n"))</array>
    <key>$top</key><dict><key>root</key>\(Self.xml(.reference(root)))</dict>
    <key>$version</key><integer>100000</integer></dict></plist>
    """
  }

  /// The archive in the binary form, as Foundation writes it.
  func binary(root: Int) throws -> Data {
    let list = try PropertyListSerialization.propertyList(from: Data(xml(root: root).utf8), format: nil)
    return try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
  }

  private static func xml(_ field: Field) -> String {
    switch field {
    case .integer(let number): "<integer>\(number)</integer>"
    case .flag(let flag): flag ? "<true/>" : "<false/>"
    case .real(let number): "<real>\(number)</real>"
    case .data(let bytes): "<data>\(Data(bytes).base64EncodedString())</data>"
    case .reference(let number): "<dict><key>CF$UID</key><integer>\(number)</integer></dict>"
    case .references(let numbers): "<array>" + numbers.map { xml(.reference($0)) }.joined() + "</array>"
    }
  }
}
