import HeartwoodFoundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore

/// A value as the page shows it.
///
/// `null`, `true` and `false`, numbers that JavaScript has exactly, and all else as a string: other numbers, dates as ISO 8601 in UTC, UUIDs. Long
/// text is an object with its beginning (`text`) and `length` in characters, binary data one with `bytes`, their number, and the type of a
/// picture, and a record one with its `uri`, `entity` and a `label`.
struct CellText {
  private let value: PropertyValue
  private let context: ManagedObjectContext

  private static let shortLimit = 200
  private static let longLimit = 100_000
  /// The numbers up to which JavaScript tells every integer from the next.
  private static let exactIntegers: ClosedRange<Int64> = -(1 << 53)...(1 << 53)

  init(value: PropertyValue, in context: ManagedObjectContext) {
    self.value = value
    self.context = context
  }

  init(_ object: ManagedObject, _ name: String, in context: ManagedObjectContext) throws(PersistenceError) {
    self.init(value: try object.propertyValue(forKey: name), in: context)
  }

  /// The value as a cell of a table shows it.
  var short: JSONValue { json(Self.shortLimit) }

  /// The value as the page of its record shows it.
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

  /// The whole value as the content of a response.
  var response: BrowserResponse {
    if case .binary(let data) = value {
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

  /// What people may call a record: its name or title, its first text, or else its reference. A record that cannot be read has its reference too: its
  /// own page says what is wrong.
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

/// The pictures that a page shows. SVG is none of them: it may hold scripts.
enum PictureType: String {
  case png = "image/png"
  case jpeg = "image/jpeg"
  case gif = "image/gif"
  case webp = "image/webp"
  case avif = "image/avif"

  /// The type that the first bytes tell; nil if they are of no picture.
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
