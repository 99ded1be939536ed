public import HeartwoodStore

extension CSVStore {
  /// Which column of the file is what, and how its text is written.
  ///
  ///     var layout = CSVStore.Layout(columns: [.reference(title: "id"), .property("memo"), .ignored()])
  ///     layout.dialect.separator = UInt8(ascii: ";")
  ///     layout.dialect.hasHeader = true
  ///     options[.csvLayout] = layout
  public struct Layout: Sendable, Hashable {
    /// The columns from left to right. Nil means those that the entity states under ``userInfoKey``, or else its properties in
    /// declared order, the inherited ones first, and the reference last.
    public var columns: [Column]?
    /// How the text is written.
    public var dialect: Dialect
    /// Whether a reference that is neither a UUID nor a number is a string. Otherwise strings have an apostrophe before them, so
    /// that a misspelt UUID is an error and not a new name.
    public var allowsBareStringReferences: Bool

    /// A layout; what is not given follows from the entity and the file.
    public init(
      columns: [Column]? = nil,
      dialect: Dialect = Dialect(),
      allowsBareStringReferences: Bool = false
    ) {
      self.columns = columns
      self.dialect = dialect
      self.allowsBareStringReferences = allowsBareStringReferences
    }

    /// The key of an entity's `userInfo` that states the columns: names of properties, separated by commas, and
    /// ``referenceName`` for the reference.
    public static let userInfoKey = "heartwood.csv.columns"
    /// What the reference is called where properties are named.
    public static let referenceName = "#"
  }

  /// A column of the file.
  public struct Column: Sendable, Hashable {
    /// What stands in a column.
    public enum Content: Sendable, Hashable {
      /// The values of the attribute or relationship of this name.
      case property(String)
      /// What the store calls the record.
      case reference
      /// Something that the model does not know. Its text stays in the file, and is empty in new records.
      case ignored
    }

    /// What stands in the column.
    public var content: Content
    /// What a header row calls the column; nil means the name of the property, ``Layout/referenceName``, or anything.
    public var title: String?

    /// A column.
    public init(_ content: Content, title: String? = nil) {
      self.content = content
      self.title = title
    }

    /// The column of the attribute or relationship called `name`.
    public static func property(_ name: String, title: String? = nil) -> Column {
      Column(.property(name), title: title)
    }

    /// The column of the reference.
    public static func reference(title: String? = nil) -> Column { Column(.reference, title: title) }

    /// A column that stays as it is.
    public static func ignored(title: String? = nil) -> Column { Column(.ignored, title: title) }
  }

  /// How the text is written. What is nil follows the file, or has the value given here in a new one.
  ///
  /// What is set holds for all that is written from then on. Lines that do not change keep their bytes.
  public struct Dialect: Sendable, Hashable {
    /// Which fields stand in quotes.
    public enum Quoting: Sendable, Hashable {
      /// Those that could be misread without.
      case minimal
      /// All that have a value.
      case all
    }

    /// What ends a line.
    public enum LineEnd: Sendable, Hashable {
      /// A line feed, as on Unix.
      case lineFeed
      /// A carriage return and a line feed, as RFC 4180 and Windows have it.
      case carriageReturnLineFeed
    }

    /// The ASCII character between fields: a comma.
    public var separator: UInt8?
    /// Whether one space after each separator belongs to no field: yes with a comma, no with another separator.
    public var hasSpaceAfterSeparator: Bool?
    /// Minimal.
    public var quoting: Quoting?
    /// A line feed. Both are read, also mixed.
    public var lineEnd: LineEnd?
    /// Whether the first line of records names the columns: no.
    public var hasHeader: Bool?
    /// Whether the file begins with the UTF-8 byte order mark: no. It is read in any case.
    public var hasByteOrderMark: Bool?
    /// Whether the last line has an end: yes.
    public var endsLastLine: Bool?
    /// Whether the first line has as many separators as the others, as spreadsheets write it: no.
    package var padsFirstLine: Bool?

    /// A dialect of which nothing is set.
    public init() {}
  }
}

extension StoreOptionKey<CSVStore.Layout> {
  /// How the file of a ``CSVStore`` is laid out. Without it the layout is derived from the model, and the dialect from the file.
  public static let csvLayout = StoreOptionKey("csvLayout", default: CSVStore.Layout())
}

extension StoreOptionKey<Int> {
  /// How many bytes are read at once.
  package static let csvChunkSize = StoreOptionKey("csvChunkSize", default: CSVReader.defaultChunkSize)
}
