public import HeartwoodStore

extension CSVStore {
  /// The columns of a file and the way in which its text is written.
  ///
  ///     var layout = CSVStore.Layout(columns: [.reference(title: "id"), .property("memo"), .ignored()])
  ///     layout.dialect.separator = UInt8(ascii: ";")
  ///     layout.dialect.hasHeader = true
  ///     options[.csvLayout] = layout
  public struct Layout: Sendable, Hashable {
    /// The columns from left to right. Nil means those that the entity lists under ``userInfoKey``, or else its
    /// properties in declared order, the inherited ones first, and the reference last.
    public var columns: [Column]?
    /// The way in which the text is written.
    public var dialect: Dialect
    /// Whether a reference that is neither a UUID nor a number is a string. Otherwise strings have an apostrophe before them, so
    /// that a misspelt UUID is an error and not a new name.
    public var allowsBareStringReferences: Bool

    /// Makes a layout; parts that are not given follow from the entity and the file.
    public init(
      columns: [Column]? = nil,
      dialect: Dialect = Dialect(),
      allowsBareStringReferences: Bool = false
    ) {
      self.columns = columns
      self.dialect = dialect
      self.allowsBareStringReferences = allowsBareStringReferences
    }

    /// The key of an entity's `userInfo` that lists the columns: names of properties, separated by commas, and
    /// ``referenceName`` for the reference.
    public static let userInfoKey = "heartwood.csv.columns"
    /// The name of the reference in a list of properties.
    public static let referenceName = "#"
  }

  /// A column of the file.
  public struct Column: Sendable, Hashable {
    /// The content of a column.
    public enum Content: Sendable, Hashable {
      /// The values of the attribute or relationship of this name.
      case property(String)
      /// The references of the records.
      case reference
      /// Text that does not belong to the model. It stays in the file, and is empty in new records.
      case ignored
    }

    /// The content of the column.
    public var content: Content
    /// The title of the column in a header row; nil means the name of the property, ``Layout/referenceName``, or, for
    /// an ignored column, any title.
    public var title: String?

    /// Makes a column.
    public init(_ content: Content, title: String? = nil) {
      self.content = content
      self.title = title
    }

    /// Returns a column for the attribute or relationship called `name`.
    public static func property(_ name: String, title: String? = nil) -> Column {
      Column(.property(name), title: title)
    }

    /// Returns a column for the reference.
    public static func reference(title: String? = nil) -> Column { Column(.reference, title: title) }

    /// Returns a column whose text stays as it is.
    public static func ignored(title: String? = nil) -> Column { Column(.ignored, title: title) }
  }

  /// The way in which the text of a file is written. Parts that are nil follow the file; a new file uses the defaults
  /// given here.
  ///
  /// Parts that are set apply to all that is written from then on. Lines that do not change keep their bytes.
  public struct Dialect: Sendable, Hashable {
    /// The fields that are written in quotes.
    public enum Quoting: Sendable, Hashable {
      /// Fields that could be misread without quotes.
      case minimal
      /// All fields that have a value.
      case all
    }

    /// The end of a line.
    public enum LineEnd: Sendable, Hashable {
      /// A line feed, as on Unix.
      case lineFeed
      /// A carriage return and a line feed, as in RFC 4180 and on Windows.
      case carriageReturnLineFeed
    }

    /// The ASCII character between fields; a comma by default.
    public var separator: UInt8?
    /// Whether one space after each separator belongs to no field; by default true with a comma, false with another
    /// separator.
    public var hasSpaceAfterSeparator: Bool?
    /// The fields that are written in quotes; minimal by default.
    public var quoting: Quoting?
    /// The end of a line; a line feed by default. Both are read, also mixed.
    public var lineEnd: LineEnd?
    /// Whether the first line of records contains the titles of the columns; false by default.
    public var hasHeader: Bool?
    /// Whether the file begins with the UTF-8 byte order mark; false by default. It is always read.
    public var hasByteOrderMark: Bool?
    /// Whether the last line has an end; true by default.
    public var endsLastLine: Bool?
    /// Whether the first line has as many separators as the others, as spreadsheets write it; false by default.
    var padsFirstLine: Bool?

    /// Makes a dialect of which nothing is set.
    public init() {}
  }
}

extension StoreOptionKey<CSVStore.Layout> {
  /// The layout of the file of a ``CSVStore``. By default, the columns are derived from the model, and the dialect from
  /// the file.
  public static let csvLayout = StoreOptionKey("csvLayout", default: CSVStore.Layout())
}

extension StoreOptionKey<Int> {
  /// The number of bytes that are read at once.
  static let csvChunkSize = StoreOptionKey("csvChunkSize", default: CSVReader.defaultChunkSize)
}
