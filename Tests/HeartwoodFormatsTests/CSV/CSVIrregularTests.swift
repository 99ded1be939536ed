import Foundation
import HeartwoodFormats
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Files of which no line is like the other, saved again and again by one store.
@Suite struct CSVIrregularTests {
  private static let thing = EntityDefinition.entity(
    "Thing",
    .attribute("name", .string, optional: true),
    .attribute("size", .integer32, optional: true),
    .attribute("note", .string, optional: true)
  )

  @Test(arguments: 1...150 as ClosedRange<UInt64>)
  func everySaveIsReadAsTheStoreHasIt(_ seed: UInt64) throws {
    var file = IrregularCSV(seed: seed)
    let fixture = try CSVFixture(Self.thing, layout: file.layout)
    let (text, recordCount) = file.text()
    try fixture.write(text)
    let engine = try fixture.open()
    #expect(try engine.records.count == recordCount, "seed \(seed): \(text.debugDescription)")
    for save in 1...8 {
      let before = try fixture.text.debugDescription
      _ = try engine.save(file.changes(of: try engine.contents()))
      let place = "seed \(seed), save \(save): \(before) became \(try fixture.text.debugDescription)"
      do {
        #expect(try fixture.open().records == engine.records, "\(place)")
      } catch {
        Issue.record(error, "\(place)")
      }
    }
  }
}

/// A random file of irregular lines, which can be read, and random changes of its records.
private struct IrregularCSV {
  private static let layouts: [[CSVStore.Column]?] = [
    nil,
    [.reference(), .ignored(), .property("name"), .property("size"), .property("note")],
    [.property("name"), .ignored(title: "rest"), .property("size"), .reference(), .property("note"), .ignored()],
    [.property("size"), .property("note"), .property("name"), .reference()],
  ]
  private static let derivedColumns: [CSVStore.Column] = [
    .property("name"), .property("size"), .property("note"), .reference(),
  ]
  private static let separators = [",", ";", "\t", "|"]

  let layout: CSVStore.Layout
  private let columns: [CSVStore.Column]
  private let separator: String
  /// Whether the first record has a space after its first separator.
  private let hasSpace: Bool
  private let hasHeader: Bool
  private var generator: SeededGenerator
  /// How many references there have been.
  private var number: Int64 = 0

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    separator = random.pick(Self.separators)
    hasSpace = random.chance(oneIn: 2)
    hasHeader = random.chance(oneIn: 3)
    var layout = CSVStore.Layout(columns: random.pick(Self.layouts))
    // Without the layout nobody would find this one.
    layout.dialect.separator = separator == "|" ? UInt8(ascii: "|") : nil
    layout.dialect.hasSpaceAfterSeparator = random.chance(oneIn: 4) ? hasSpace : nil
    layout.dialect.hasHeader = random.chance(oneIn: 2) ? hasHeader : nil
    layout.dialect.quoting = random.pick([nil, nil, .all])
    layout.dialect.lineEnd = random.pick([nil, nil, .carriageReturnLineFeed])
    layout.dialect.hasByteOrderMark = random.pick([nil, nil, true])
    layout.dialect.endsLastLine = random.pick([nil, nil, true, false])
    self.layout = layout
    columns = layout.columns ?? Self.derivedColumns
    generator = random
  }
}

// MARK: Lines

extension IrregularCSV {
  /// The file, and how many records it has.
  mutating func text() -> (String, recordCount: Int) {
    let recordCount = generator.pick([0, 1, 2, 3, 5, 8])
    var lines = [CSVFixture.identifier + generator.pick(["", "", ",,,", "; "])]
    if hasHeader { lines.append(header()) }
    for index in 0..<recordCount { lines.append(line(isFirst: index == 0)) }
    var text = generator.pick(["", "", "\u{FEFF}"])
    for line in lines {
      text += line + lineEnd()
      while generator.chance(oneIn: 5) { text += lineEnd() }
    }
    // Both line ends are one character.
    if generator.chance(oneIn: 2) { text.removeLast() }
    return (text, recordCount)
  }

  private mutating func lineEnd() -> String { generator.pick(["\n", "\n", "\r\n"]) }

  private mutating func header() -> String {
    let space = generator.pick(["", " "])
    let titles = columns.map { column in
      switch column.content {
      case .property(let name): generator.pick([name, name.uppercased(), "\"\(name)\""])
      case .reference: "#"
      case .ignored: column.title ?? "anything"
      }
    }
    return titles.joined(separator: separator + space)
  }

  private mutating func line(isFirst: Bool) -> String {
    var line = ""
    for (index, column) in columns.enumerated() {
      let field = field(column, isFirst: isFirst)
      if index > 0 { line += separator }
      line += spaces(before: field, index, isFirst: isFirst) + field.text
    }
    return line
  }

  /// A field as it stands in a line; spaces before it may be a part of its text.
  private typealias Field = (text: String, takesSpaces: Bool)

  private mutating func field(_ column: CSVStore.Column, isFirst: Bool) -> Field {
    switch column.content {
    case .property("size"): (generator.pick(["", "5", "-12", "+7", "007", "\"42\""]), false)
    case .reference: (reference(isFirst: isFirst), false)
    case .property, .ignored:
      if generator.chance(oneIn: 3) { (quoted(), false) } else { (bare(isFirst: isFirst), true) }
    }
  }

  private mutating func spaces(before field: Field, _ index: Int, isFirst: Bool) -> String {
    let showsSpace = isFirst && index == 1
    let least = showsSpace && hasSpace ? 1 : 0
    let most = field.takesSpaces && !(showsSpace && !hasSpace) ? 2 : hasSpace && index > 0 ? 1 : 0
    return String(repeating: " ", count: Int.random(in: least...most, using: &generator))
  }

  private mutating func reference(isFirst: Bool) -> String {
    number += 1
    let uuid = generator.nextUUID().uuidString
    let bare = isFirst ? "'bare \(number)" : "'\(otherSeparators().joined()) \(number)"
    return generator.pick(["\(number)", uuid, uuid.lowercased(), bare, "\"'\(Self.separators.joined()) \(number)\""])
  }

  private func otherSeparators() -> [String] { Self.separators.filter { $0 != separator } }

  private mutating func quoted() -> String {
    let pieces = Self.separators + ["a", " ", "\"\"", "\n", "\r\n", "#", "é"]
    return "\"" + generator.several(pieces) + "\""
  }

  /// The first record shows the separator, so it has no other but in quotes.
  private mutating func bare(isFirst: Bool) -> String {
    generator.several(["a", "b c", "é", "#", "'", "1"] + (isFirst ? [] : otherSeparators() + otherSeparators()))
  }
}

// MARK: Changes

extension IrregularCSV {
  /// Deletes, changes and inserts records; the first one vanishes often, and all do now and then.
  mutating func changes(of contents: StoreContents) throws -> ChangeSet {
    let entity = try #require(contents.entities.first)
    let deletion = generator.pick([1, 2, 4, 100])
    var changes = ChangeSet()
    for (index, node) in contents.nodes(of: entity).enumerated() {
      let (id, version) = (node.objectID, node.version)
      if generator.chance(oneIn: index == 0 ? 2 : deletion) {
        changes.deleted.append(RecordDeletion(objectID: id, baseVersion: version))
      } else if generator.chance(oneIn: 4) {
        let ordinal = Int.random(in: 0..<entity.properties.count, using: &generator)
        let value = value(entity.properties[ordinal].name)
        changes.updated.append(RecordUpdate(objectID: id, baseVersion: version, values: [(ordinal, value)]))
      }
    }
    for _ in 0..<generator.pick([0, 0, 1, 3]) {
      let values = entity.properties.map { value($0.name) }
      let id = contents.objectID(newReference(), of: entity)
      changes.inserted.append(ObjectSnapshot(objectID: id, version: 0, values: values))
    }
    return changes
  }

  private mutating func value(_ property: String) -> PropertyValue {
    if generator.chance(oneIn: 4) { return .null }
    if property == "size" { return .integer(Int64.random(in: -99...99, using: &generator)) }
    return .string(generator.several(Self.separators + ["a", " ", "\"", "\n", "\r\n", "#", "'", "é"]))
  }

  private mutating func newReference() -> ReferenceID {
    number += 1
    switch generator.next() % 3 {
    case 0: return .integer(number)
    case 1: return .uuid(generator.nextUUID())
    default: return .string(generator.pick(Self.separators) + "\(number)")
    }
  }
}

extension SeededGenerator {
  fileprivate mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: elements.indices, using: &self)]
  }

  /// Up to four of the pieces, one behind the other.
  fileprivate mutating func several(_ pieces: [String]) -> String {
    (0..<Int.random(in: 0...4, using: &self)).map { _ in pick(pieces) }.joined()
  }
}
