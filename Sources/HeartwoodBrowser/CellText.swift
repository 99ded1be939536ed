import HeartwoodFoundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore

/// A value as the page shows it.
///
/// `null`, `true`, `false` and numbers that JavaScript represents exactly are themselves. Other values are strings:
/// other numbers, dates as ISO 8601 in UTC, UUIDs. Long text is an object with its beginning (`text`) and its `length`
/// in characters, binary data an object with the number of `bytes` and the type of a picture, and a record an object
/// with its `uri`, its `entity` and a `label`.
struct CellText {
  private let value: PropertyValue
  private let context: ManagedObjectContext

  private static let shortLimit = 200
  private static let longLimit = 100_000
  /// The integers that JavaScript represents exactly.
  private static let exactIntegers: ClosedRange<Int64> = -(1 << 53)...(1 << 53)

  init(value: PropertyValue, in context: ManagedObjectContext) {
    self.value = value
    self.context = context
  }

  init(_ object: ManagedObject, _ name: String, in context: ManagedObjectContext) throws(PersistenceError) {
    self.init(value: try object.propertyValue(forKey: name), in: context)
  }

  /// The value for a cell of a table.
  var short: JSONValue { json(Self.shortLimit) }

  /// The value for the page of its record.
  var long: JSONValue { json(Self.longLimit) }

  private func json(_ limit: Int) -> JSONValue {
    switch value {
    case .null: .null
    case .integer(let number): Self.exactIntegers.contains(number) ? .integer(number) : .string(String(number))
    case .double(let number): number.isFinite ? .double(number) : .string("\(number)")
    case .float(let number): number.isFinite ? .raw("\(number)") : .string("\(number)")
    case .boolean(let flag): .boolean(flag)
    case .string(let text): Self.cut(text, limit)
    case .binary(let data):
      .object([("bytes", .integer(data.count)), ("picture", .optional(PictureType(data)?.rawValue))])
    case .toOne(let id): Self.link(to: id, in: context)
    case .toMany(let ids): .array(ids.map { Self.link(to: $0, in: context) })
    case .decimal, .date, .uuid, .uri: .string(plainText)
    }
  }

  private static func cut(_ text: String, _ limit: Int) -> JSONValue {
    guard text.utf8.count > limit, text.count > limit else { return .string(text) }
    return .object([("text", .string(String(text.prefix(limit)))), ("length", .integer(text.count))])
  }

  private var plainText: String {
    switch value {
    case .date(let date): return RecordDate.text(of: date)
    case .decimal(let number): return "\(number)"
    case .uuid(let uuid): return uuid.uuidString
    case .uri(let url): return url.absoluteString
    case .string(let text): return text
    default: return json(Self.longLimit).text
    }
  }

  // MARK: As a whole

  /// The whole value as the content of a response. Property lists in binary form are text.
  var response: BrowserResponse {
    if case .binary(let data) = value {
      if let outline = PropertyListOutline.text(of: data) {
        return BrowserResponse(type: "text/plain; charset=utf-8", Data(outline.utf8))
      }
      return BrowserResponse(type: PictureType(data)?.rawValue ?? "application/octet-stream", data)
    }
    return BrowserResponse(type: "text/plain; charset=utf-8", Data(plainText.utf8))
  }

  // MARK: Links

  static func link(to id: ManagedObjectID, in context: ManagedObjectContext) -> JSONValue {
    .object([
      ("uri", .string(id.uriRepresentation().absoluteString)), ("entity", .string(id.entity.name)),
      ("label", .string(label(of: id, in: context))),
    ])
  }

  private static let labelNames = ["name", "title", "label", "displayName", "fullName", "lastName"]
  private static let labelLimit = 60

  /// Returns a label for a record: its name or title, its first text, or else its reference. A record that cannot be
  /// read has its reference as label; its own page shows the error.
  static func label(of id: ManagedObjectID, in context: ManagedObjectContext) -> String {
    let attributes = id.entity.attributes.filter { $0.type == .string && !$0.isTransient }.map(\.name)
    guard let name = labelNames.first(where: attributes.contains) ?? attributes.first,
      let object = try? context.existingObject(with: id),
      case .string(let text)? = try? object.propertyValue(forKey: name), !text.isEmpty
    else { return id.reference.text }
    return String(text.prefix(labelLimit))
  }
}

// MARK: PictureType

/// The types of pictures that a page shows. SVG is not one of them, because it may contain scripts.
enum PictureType: String {
  case png = "image/png"
  case jpeg = "image/jpeg"
  case gif = "image/gif"
  case webp = "image/webp"
  case avif = "image/avif"

  /// Detects the type from the first bytes; nil if they do not begin a picture.
  init?(_ data: Data) {
    let start = Array(data.prefix(12))
    func has(_ bytes: [UInt8], at offset: Int = 0) -> Bool { start.dropFirst(offset).starts(with: bytes) }
    if has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if has([0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if has(Array("GIF8".utf8)) {
      self = .gif
    } else if has(Array("RIFF".utf8)), has(Array("WEBP".utf8), at: 8) {
      self = .webp
    } else if has(Array("ftypavif".utf8), at: 4) {
      self = .avif
    } else {
      return nil
    }
  }
}
