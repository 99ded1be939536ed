public import HeartwoodStore

extension StoreOptionKey<Int> {
  /// How deep the elements of an XML file may be nested; 64 by default. Deeper files are refused.
  public static let xmlNestingLimit = StoreOptionKey("xmlNestingLimit")
  /// How many bytes the text of one element of an XML file may have; 4 GiB by default.
  public static let xmlTextLimit = StoreOptionKey("xmlTextLimit")
  /// How many attributes one tag of an XML file may have; 64 by default.
  public static let xmlAttributeLimit = StoreOptionKey("xmlAttributeLimit")
}

/// What an XML file may ask of its reader.
struct XMLLimits: Sendable {
  var nesting = 64
  var textLength = 1 << 32
  var attributeCount = 64

  /// How many bytes of one tag are taken without a look at them. The time that libxml2 takes for a tag grows with the square of its
  /// attributes, so of longer ones the attributes are counted before it sees the end.
  static let unquestionedTagLength = 1 << 16

  init(_ options: StoreOptions = StoreOptions()) {
    nesting = max(1, options[.xmlNestingLimit] ?? nesting)
    textLength = max(0, options[.xmlTextLimit] ?? textLength)
    attributeCount = max(1, options[.xmlAttributeLimit] ?? attributeCount)
  }
}
