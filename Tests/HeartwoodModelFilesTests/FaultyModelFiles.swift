extension FaultyModelFile {
  static let all = documents + sizes + elements + values + models

  private static func faulty(_ name: String, line: Int?, _ message: String, _ text: String) -> FaultyModelFile {
    FaultyModelFile(name: name, line: line, message: message, text: text)
  }

  /// A model with `attribute` on line 3 in it.
  private static func attribute(_ name: String, _ message: String, _ attribute: String) -> FaultyModelFile {
    faulty(name, line: 3, message, "<model>\n<entity name=\"A\">\n<attribute \(attribute)/>\n</entity>\n</model>")
  }

  private static func relationship(_ name: String, _ message: String, _ relationship: String) -> FaultyModelFile {
    faulty(name, line: 3, message, "<model>\n<entity name=\"A\">\n<relationship \(relationship)/>\n</entity>\n</model>")
  }

  private static let bomb = """
    <!DOCTYPE model [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
    <model><entity name="&b;&b;&b;&b;"/></model>
    """

  /// Six composites on lines of their own, each of a hundred parts that are of the next; the last one has none.
  private static let nestedComposites = (0..<6).map { number in
    let parts = (0..<(number < 5 ? 100 : 0)).map {
      "<attribute name=\"a\($0)\" attributeType=\"Composite\" composite=\"C\(number + 1)\"/>"
    }
    return "<composite name=\"C\(number)\">\(parts.joined())</composite>\n"
  }
  .joined()

  private static let documents = [
    faulty("an empty file", line: 1, "not well formed XML", ""),
    faulty("no XML", line: 1, "not well formed XML", "1, insertCurrent"),
    faulty("another document", line: 1, "The outermost element is “database”", "<database/>"),
    faulty("two outermost elements", line: 2, "not well formed XML", "<model/>\n<model/>"),
    faulty("an attribute twice", line: 2, "not well formed XML", "<model>\n<entity name=\"A\" name=\"B\"/>\n</model>"),
    faulty("an unknown entity", line: 2, "not well formed XML", "<model>\n<entity name=\"&a;\"/>\n</model>"),
    faulty("bytes that are no text", line: 2, "not well formed XML", "<model>\n<entity name=\"\u{1}\"/>\n</model>"),
    faulty("an unknown encoding", line: 1, "not well formed XML", "<?xml version=\"1.0\" encoding=\"none\"?><model/>"),
    faulty("entities that multiply", line: 1, "declares entities", bomb),
    faulty(
      "an external entity",
      line: 1,
      "declares entities",
      "<!DOCTYPE model [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><model><entity name=\"&a;\"/></model>"
    ),
    faulty(
      "a parameter entity",
      line: 1,
      "declares entities",
      "<!DOCTYPE model [<!ENTITY % a SYSTEM \"http://localhost/x\"> %a;]><model/>"
    ),
    faulty(
      "an entity that is no XML",
      line: 1,
      "declares entities",
      "<!DOCTYPE model [<!NOTATION gif SYSTEM \"gif\"><!ENTITY a SYSTEM \"a.gif\" NDATA gif>]><model/>"
    ),
    faulty(
      "an entity that an unread document type may declare",
      line: 2,
      "refers to an entity",
      "<!DOCTYPE model SYSTEM \"model.dtd\"><model>\n<entity name=\"A\">&a;</entity>\n</model>"
    ),
    faulty(
      "attributes by default",
      line: 1,
      "declares entities or attributes",
      "<!DOCTYPE model [<!ATTLIST entity name (A|B) \"A\">]><model><entity/></model>"
    ),
    faulty(
      "elements nested too deep",
      line: 1,
      "nested more than 100 deep",
      String(repeating: "<model>", count: 100_000)
    ),
  ]

  private static let sizes = [
    faulty(
      "a tag of very many attributes",
      line: 2,
      "longer than 64 KB",
      "<model>\n<entity " + (0..<1_000_000).map { "a\($0)=\"\" " }.joined() + "/></model>"
    )
  ]

  private static let elements = [
    faulty("an entity without a name", line: 2, "“entity” has no “name”", "<model>\n<entity/>\n</model>"),
    faulty("an entity with an empty name", line: 2, "has no “name”", "<model>\n<entity name=\"\"/>\n</model>"),
    attribute("an attribute without a name", "“attribute” has no “name”", "attributeType=\"String\""),
    attribute(
      "an attribute without a type that is stored",
      "A.a: The attribute has no type, so that no store can keep its values",
      "name=\"a\""
    ),
    attribute("an unknown type", "The attribute type “Text” is not known", "name=\"a\" attributeType=\"Text\""),
    attribute(
      "a composite that is not there",
      "The composite “C” does not exist",
      "name=\"a\" attributeType=\"Composite\" composite=\"C\""
    ),
    faulty(
      "a composite that is a part of itself",
      line: 2,
      "has too many parts, or is a part of itself",
      """
      <model>
      <composite name="C"><attribute name="c" attributeType="Composite" composite="C"/></composite>
      <entity name="A"><attribute name="a" attributeType="Composite" composite="C"/></entity>
      </model>
      """
    ),
    faulty(
      "a composite of very many parts",
      line: 3,
      "has more than 1000 parts",
      "<model>\n<composite name=\"C\">"
        + (0..<1_001).map { "<attribute name=\"a\($0)\" attributeType=\"String\"/>\n" }.joined(separator: "").replacing(
          "\n",
          with: " "
        )
        + "</composite>\n<entity name=\"A\"><attribute name=\"a\" attributeType=\"Composite\" composite=\"C\"/></entity>\n</model>"
    ),
    faulty(
      "composites in composites without any other part",
      line: 8,
      "has more than 1000 parts",
      "<model>\n" + nestedComposites
        + "<entity name=\"A\"><attribute name=\"a\" attributeType=\"Composite\" composite=\"C0\"/></entity>\n</model>"
    ),
    relationship("a relationship without a destination", "has no “destinationEntity”", "name=\"r\""),
    faulty("a configuration without a name", line: 2, "has no “name”", "<model>\n<configuration/>\n</model>"),
    faulty(
      "a configuration twice",
      line: 3,
      "Another configuration is called “C”",
      "<model>\n<configuration name=\"C\"/>\n<configuration name=\"C\"/>\n</model>"
    ),
  ]

  private static let values = [
    attribute(
      "a flag that is none",
      "“optional” is neither YES nor NO",
      "name=\"a\" attributeType=\"String\" optional=\"maybe\""
    ),
    relationship(
      "a count that is none",
      "“maxCount” is not a whole number",
      "name=\"r\" destinationEntity=\"A\" maxCount=\"99999999999999999999\""
    ),
    relationship(
      "a deletion rule that is none",
      "The deletion rule “Explode” is not known",
      "name=\"r\" destinationEntity=\"A\" deletionRule=\"Explode\""
    ),
  ]

  private static let models = [
    faulty(
      "an unknown parent",
      line: 2,
      "A: The parent “B”",
      "<model>\n<entity name=\"A\" parentEntity=\"B\"/>\n</model>"
    ),
    relationship(
      "an unknown destination",
      "A.r: The destination “B” does not exist",
      "name=\"r\" destinationEntity=\"B\""
    ),
    relationship(
      "a negative count",
      "A.r: The counts -2 and 0",
      "name=\"r\" destinationEntity=\"A\" toMany=\"YES\" minCount=\"-2\""
    ),
    faulty(
      "an entity twice",
      line: 3,
      "A: Another entity",
      "<model>\n<entity name=\"A\"/>\n<entity name=\"A\"/>\n</model>"
    ),
  ]
}
