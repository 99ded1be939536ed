@_spi(CoreDataFiles) import HeartwoodFormats
import HeartwoodFoundation
import HeartwoodRecordText

/// A property list in binary form, or a keyed archive in one, as indented text for people.
///
/// The objects of an archive are shown with the names of their classes, each in the place of the reference to it. None
/// of the classes is instantiated. An object that contains itself, and what is beyond the limits, is left out with a note.
struct PropertyListOutline {
  private static let start = Array("bplist".utf8)
  private static let lineLimit = 5_000
  private static let deepestNesting = 32
  private static let longestText = 10_000
  /// The number of objects of an archive that are looked up.
  private static let stepLimit = 1_000_000
  private static let shownBytes = 32

  private var lines: [String] = []
  /// The numbers of the archive's objects that contain the present one.
  private var containers: Set<Int> = []

  /// Returns nil if the data are no property list in binary form, or a damaged one.
  static func text(of data: Data) -> String? {
    // try?: what cannot be read is shown as bytes.
    guard data.starts(with: start), let value = try? ArchiveReader.value(of: Array(data)) else { return nil }
    var outline = PropertyListOutline()
    // try?: a property list that is no archive is shown as it is.
    if let archive = try? KeyedArchive(value, steps: stepLimit) {
      guard let root = archive.root else { return nil }
      outline.add(root, label: "", depth: 0)
    } else {
      outline.add(value, label: "", depth: 0)
    }
    if outline.isFull { outline.lines.append("…") }
    return outline.lines.joined(separator: "\n")
  }

  private var isFull: Bool { lines.count >= Self.lineLimit }

  private mutating func add(_ text: String, label: String, depth: Int) {
    if !isFull { lines.append(String(repeating: "  ", count: depth) + label + text) }
  }
}

// MARK: Property lists

extension PropertyListOutline {
  private mutating func add(_ value: ArchiveValue, label: String, depth: Int) {
    switch value {
    case .array(let values):
      addList(values.count, "[", "]", label, depth) { outline, place in
        outline.add(values[place], label: "", depth: depth + 1)
      }
    case .dictionary(let members):
      let members = members.sorted { $0.key < $1.key }
      addList(members.count, "{", "}", label, depth) { outline, place in
        outline.add(members[place].value, label: "\(members[place].key): ", depth: depth + 1)
      }
    default: add(Self.text(of: value), label: label, depth: depth)
    }
  }

  /// Adds what `member` adds for each place between two brackets, unless that is nested too deep.
  private mutating func addList(
    _ count: Int,
    _ open: String,
    _ close: String,
    _ label: String,
    _ depth: Int,
    _ member: (inout PropertyListOutline, Int) -> Void
  ) {
    guard count > 0, depth < Self.deepestNesting else {
      return add(open + (count > 0 ? "…" : "") + close, label: label, depth: depth)
    }
    add(open, label: label, depth: depth)
    for place in 0..<count where !isFull { member(&self, place) }
    add(close, label: "", depth: depth)
  }

  private static func text(of value: ArchiveValue) -> String {
    switch value {
    case .null: "null"
    case .boolean(let flag): "\(flag)"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .date(let date): RecordDate.text(of: date)
    case .string(let text): text.count > longestText ? "\"\(text.prefix(longestText))…\"" : "\"\(text)\""
    case .data(let data): bytes(data)
    case .reference(let number): "object \(number)"
    case .array, .dictionary: ""
    }
  }

  private static func bytes(_ data: Data) -> String {
    let digits = data.prefix(shownBytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
    return "<\(data.count) bytes: \(digits)\(data.count > shownBytes ? " …" : "")>"
  }
}

// MARK: Keyed archives

extension PropertyListOutline {
  private mutating func add(_ node: ArchiveNode, label: String, depth: Int) {
    if let number = node.number, containers.contains(number) {
      return add("(contains itself: object \(number))", label: label, depth: depth)
    }
    guard case .dictionary(let fields) = node.value else { return add(node.value, label: label, depth: depth) }
    if let text = node.string { return add(.string(text), label: label, depth: depth) }
    if let number = node.number { containers.insert(number) }
    defer { if let number = node.number { containers.remove(number) } }
    let label = label + (node.className.map { "\($0) " } ?? "")
    if node.isList {
      let items = node.items
      addList(items.count, "[", "]", label, depth) { $0.add(items[$1], label: "", depth: depth + 1) }
    } else {
      let members = members(of: node, fields.keys)
      addList(members.count, "{", "}", label, depth) { outline, place in
        outline.add(members[place].value, label: "\(members[place].key): ", depth: depth + 1)
      }
    }
  }

  /// The members of a dictionary, or else the fields of an object.
  private func members(of node: ArchiveNode, _ keys: some Sequence<String>) -> [(key: String, value: ArchiveNode)] {
    let members = node.members
    if !members.isEmpty { return members }
    return keys.sorted().filter { $0 != "$class" }.compactMap { key in node[key].map { (key, $0) } }
  }
}
