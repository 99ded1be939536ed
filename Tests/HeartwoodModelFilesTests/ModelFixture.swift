import Foundation
import HeartwoodModel
import Testing

/// Model files for tests, and the models that they stand for.
enum ModelFixture {
  /// A model with everything in it that is read.
  static let everything = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22522" \
    systemVersion="23E224" minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="1.0 &amp; more">
        <entity name="Base" representedClassName="" isAbstract="YES" elementID="Root" versionHashModifier="b" syncable="YES">
            <attribute name="code" attributeType="UUID" defaultValueString="E899556C-BE1A-42A3-A634-F8411915C05F" usesScalarValueType="NO"/>
            <uniquenessConstraints>
                <uniquenessConstraint>
                    <constraint value="code"/>
                </uniquenessConstraint>
            </uniquenessConstraints>
            <userInfo/>
        </entity>
        <entity name="Thing" representedClassName="MyThing" parentEntity="Base" syncable="YES" codeGenerationType="class">
            <attribute name="int16" attributeType="Integer 16" defaultValueString="-32768" usesScalarValueType="YES"/>
            <attribute name="int32" optional="YES" attributeType="Integer 32" minValueString="0.0" defaultValueString="7.0"/>
            <attribute name="int64" optional="YES" attributeType="Integer 64" defaultValueString="9223372036854775807"/>
            <attribute name="price" optional="YES" attributeType="Decimal" minValueString="-3.5" maxValueString="3" defaultValueString="0.10"/>
            <attribute name="double" optional="YES" attributeType="Double" defaultValueString="0.1"/>
            <attribute name="float" optional="YES" attributeType="Float" defaultValueString="0.1"/>
            <attribute name="text" optional="YES" attributeType="String" minValueString="1" maxValueString="203" regularExpressionString="(?s)^a.*$" defaultValueString="a &quot;b&quot; &lt;c&gt; &amp; &#10;d é"/>
            <attribute name="flag" optional="YES" attributeType="Boolean" defaultValueString="YES"/>
            <attribute name="when" optional="YES" attributeType="Date" minDateTimeInterval="284000400" minValueString="2010" maxDateTimeInterval="602395200" defaultDateTimeInterval="495828900" defaultValueString="2016"/>
            <attribute name="blob" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES" preserveAfterDeletion="YES"/>
            <attribute name="link" optional="YES" attributeType="URI" defaultValueString="https://example.org/"/>
            <attribute name="color" optional="YES" transient="YES" attributeType="Transformable" valueTransformerName="T" customClassName="Color" elementID="colour" versionHashModifier="2">
                <userInfo>
                    <entry key="a" value="1"/>
                    <entry key="b"/>
                </userInfo>
            </attribute>
            <attribute name="empty" optional="YES" attributeType="Integer 32" defaultValueString=""/>
            <relationship name="parts" optional="YES" toMany="YES" minCount="1" maxCount="20" ordered="YES" deletionRule="Cascade" destinationEntity="Thing" inverseName="whole" inverseEntity="Thing" syncable="YES"/>
            <relationship name="whole" maxCount="1" deletionRule="Deny" destinationEntity="Thing" inverseName="parts" inverseEntity="Thing" elementID="owner" versionHashModifier="3">
                <userInfo>
                    <entry key="c" value="d"/>
                </userInfo>
            </relationship>
            <userInfo>
                <entry key="key with.dots" value="value with &quot;quotes&quot;"/>
            </userInfo>
        </entity>
        <entity name="Other">
            <relationship name="things" toMany="YES" deletionRule="No Action" destinationEntity="Thing"/>
            <relationship name="unbounded" minCount="1" maxCount="-1" destinationEntity="Thing"/>
            <relationship name="hidden" transient="YES" destinationEntity="Thing"/>
        </entity>
        <configuration name="Cloud">
            <memberEntity name="Thing"/>
            <memberEntity name="Other"/>
        </configuration>
        <elements>
            <element name="Base" positionX="0" positionY="0" width="128" height="44"/>
        </elements>
    </model>
    """

  static func everythingModel() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: [try base(), try thing(), other()],
      configurations: ["Cloud": ["Thing", "Other"]],
      versionIdentifiers: ["1.0 & more"]
    )
  }

  private static func base() throws -> EntityDefinition {
    let code = try #require(UUID(uuidString: "E899556C-BE1A-42A3-A634-F8411915C05F"))
    return EntityDefinition(
      name: "Base",
      isAbstract: true,
      properties: [.attribute("code", .uuid, default: .uuid(code))],
      uniquenessConstraints: [["code"]],
      renamingIdentifier: "Root",
      versionHashModifier: "b"
    )
  }

  private static func thing() throws -> EntityDefinition {
    EntityDefinition(
      name: "Thing",
      managedObjectClassName: "MyThing",
      superentityName: "Base",
      properties: try numbers() + texts() + special() + relationships(),
      userInfo: ["key with.dots": "value with \"quotes\""]
    )
  }

  private static func numbers() throws -> [PropertyDescription] {
    [
      .attribute("int16", .integer16, default: .integer(-32_768)),
      .attribute(
        "int32",
        .integer32,
        optional: true,
        default: .integer(7),
        rules: AttributeRules(minValue: .integer(0))
      ),
      .attribute("int64", .integer64, optional: true, default: .integer(.max)),
      .attribute(
        "price",
        .decimal,
        optional: true,
        default: .decimal(try #require(Decimal(string: "0.1"))),
        rules: AttributeRules(minValue: .decimal(try #require(Decimal(string: "-3.5"))), maxValue: .decimal(3))
      ),
      .attribute("double", .double, optional: true, default: .double(0.1)),
      .attribute("float", .float, optional: true, default: .float(0.1)),
    ]
  }

  private static func texts() throws -> [PropertyDescription] {
    [
      .attribute(
        "text",
        .string,
        optional: true,
        default: .string("a \"b\" <c> & \nd é"),
        rules: AttributeRules(minLength: 1, maxLength: 203, pattern: "(?s)^a.*$")
      ),
      .attribute("flag", .boolean, optional: true, default: .boolean(true)),
      .attribute(
        "when",
        .date,
        optional: true,
        default: .date(Date(timeIntervalSinceReferenceDate: 495_828_900)),
        rules: AttributeRules(
          minValue: .date(Date(timeIntervalSinceReferenceDate: 284_000_400)),
          maxValue: .date(Date(timeIntervalSinceReferenceDate: 602_395_200))
        )
      ),
    ]
  }

  private static func special() throws -> [PropertyDescription] {
    [
      .attribute(
        AttributeDescription(
          name: "blob",
          type: .binary,
          allowsExternalBinaryDataStorage: true,
          preservesValueInHistoryOnDeletion: true
        )
      ),
      .attribute("link", .uri, optional: true, default: .uri(try #require(URL(string: "https://example.org/")))),
      .attribute(
        AttributeDescription(
          name: "color",
          type: .transformable,
          isTransient: true,
          valueTransformerName: "T",
          attributeValueClassName: "Color",
          renamingIdentifier: "colour",
          versionHashModifier: "2",
          userInfo: ["a": "1", "b": ""]
        )
      ),
      .attribute("empty", .integer32, optional: true),
    ]
  }

  private static func relationships() -> [PropertyDescription] {
    [
      .toMany("parts", "Thing", inverse: "whole", ordered: true, count: 1...20, deleteRule: .cascade),
      .relationship(
        RelationshipDescription(
          name: "whole",
          destinationEntityName: "Thing",
          inverseRelationshipName: "parts",
          isOptional: false,
          deleteRule: .deny,
          renamingIdentifier: "owner",
          versionHashModifier: "3",
          userInfo: ["c": "d"]
        )
      ),
    ]
  }

  private static func other() -> EntityDefinition {
    .entity(
      "Other",
      .toMany("things", "Thing", inverse: nil, optional: false, deleteRule: .noAction),
      .relationship(
        RelationshipDescription(
          name: "unbounded",
          destinationEntityName: "Thing",
          isToMany: true,
          isOptional: false,
          minCount: 1
        )
      ),
      .relationship(
        RelationshipDescription(name: "hidden", destinationEntityName: "Thing", isOptional: false, isTransient: true)
      )
    )
  }

  /// A model with everything in it that tells how objects are fetched, and what is made of other attributes.
  static let fetching = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" userDefinedModelVersionIdentifier="">
        <entity name="Person">
            <attribute name="name" attributeType="String"/>
            <attribute name="friendCount" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="friends.@count"/>
            <attribute name="home" optional="YES" attributeType="Composite" composite="Address" elementID="house">
                <userInfo>
                    <entry key="a" value="b"/>
                </userInfo>
            </attribute>
            <relationship name="friends" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Person"/>
            <fetchedProperty name="namesakes" optional="YES" elementID="twins">
                <fetchRequest name="fetchedPropertyFetchRequest" entity="Person" predicateString="name == $FETCH_SOURCE.name"/>
                <userInfo>
                    <entry key="c" value="d"/>
                </userInfo>
            </fetchedProperty>
            <fetchIndex name="byName" partialIndexPredicate="friendCount &gt; 2">
                <fetchIndexElement property="name" type="Binary" order="descending"/>
                <fetchIndexElement expression="lowercase:(name)" type="RTree" order="ascending"/>
            </fetchIndex>
        </entity>
        <fetchRequest name="called" entity="Person" predicateString="name BEGINSWITH[cd] $NAME" resultType="2" fetchLimit="10" fetchBatchSize="5" includeSubentities="NO" includePropertyValues="NO" includesPendingChanges="NO" returnObjectsAsFaults="NO" returnDistinctResults="YES"/>
        <fetchRequest name="all" entity="Person"/>
        <composite name="Address">
            <attribute name="street" optional="YES" attributeType="String" defaultValueString="Main"/>
            <attribute name="place" attributeType="Composite" composite="Place"/>
        </composite>
        <composite name="Place">
            <attribute name="city" attributeType="String"/>
        </composite>
    </model>
    """

  static func fetchingModel() throws -> ManagedObjectModel {
    let request = FetchRequestTemplate(
      name: "fetchedPropertyFetchRequest",
      entityName: "Person",
      predicate: try FetchPredicate(format: "name == $FETCH_SOURCE.name")
    )
    return try ManagedObjectModel(
      entities: [try fetchingPerson(request)],
      fetchRequestTemplates: [
        FetchRequestTemplate(
          name: "called",
          entityName: "Person",
          predicate: try FetchPredicate(format: "name BEGINSWITH[cd] $NAME"),
          resultType: .dictionaries,
          fetchLimit: 10,
          fetchBatchSize: 5,
          includesSubentities: false,
          includesPropertyValues: false,
          includesPendingChanges: false,
          returnsObjectsAsFaults: false,
          returnsDistinctResults: true
        ),
        FetchRequestTemplate(name: "all", entityName: "Person"),
      ]
    )
  }

  private static func fetchingPerson(_ request: FetchRequestTemplate) throws -> EntityDefinition {
    EntityDefinition(
      name: "Person",
      properties: [
        .attribute("name", .string),
        .attribute(
          AttributeDescription(
            name: "friendCount",
            type: .integer64,
            derivationExpression: try FetchExpression(format: "friends.@count")
          )
        ),
        .attribute("home_street", .string, optional: true, default: .string("Main"), renamedFrom: "house_street"),
        .attribute("home_place_city", .string, optional: true, renamedFrom: "house_place_city"),
        .toMany("friends", "Person", inverse: nil),
      ],
      fetchedProperties: [
        FetchedPropertyDescription(
          name: "namesakes",
          fetchRequest: request,
          renamingIdentifier: "twins",
          userInfo: ["c": "d"]
        )
      ],
      fetchIndexes: [
        FetchIndexDescription(
          name: "byName",
          elements: [
            FetchIndexElementDescription(.property("name"), isAscending: false),
            FetchIndexElementDescription(
              .expression(try FetchExpression(format: "lowercase:(name)")),
              collationType: .rTree
            ),
          ],
          partialIndexPredicate: try FetchPredicate(format: "friendCount > 2")
        )
      ],
      compositeAttributes: [
        CompositeAttributeDescription(
          name: "home",
          compositeName: "Address",
          elements: [
            .init(name: "street", attributeName: "home_street"),
            .init(name: "place.city", attributeName: "home_place_city"),
          ],
          userInfo: ["a": "b"]
        )
      ]
    )
  }

  /// A model with something that is not known on each line.
  static let unknown = """
    <model new="1">
    <entity name="A" new="1">
    <attribute name="a" optional="YES" attributeType="String" new="1">
    <new/></attribute>
    <relationship name="r" optional="YES" maxCount="1" destinationEntity="A" new="1">
    <new/></relationship>
    <uniquenessConstraints new="1">
    <uniquenessConstraint new="1">
    <constraint value="a" new="1"/><new/></uniquenessConstraint>
    <new/></uniquenessConstraints>
    <fetchedProperty name="f" optional="YES" new="1">
    <fetchRequest name="q" entity="A" new="1">
    <new/></fetchRequest>
    <new/></fetchedProperty>
    <fetchIndex name="i" new="1">
    <fetchIndexElement property="a" type="Binary" order="ascending" new="1"/>
    <new/></fetchIndex>
    <userInfo new="1">
    <entry key="k" value="v" new="1"/>
    <new/></userInfo>
    <new/></entity>
    <configuration name="C" new="1">
    <memberEntity name="A" new="1"/></configuration>
    <new/></model>
    """

  /// The same model without what is not known.
  static let unknownLeftOut = unknown.replacing(" new=\"1\"", with: "").replacing("<new/>", with: "")

  /// A model with everything in it that is not represented.
  static let notes = """
    <?xml version="1.0"?>
    <model>
        <entity name="A" coreSpotlightDisplayNameExpression="x">
            <attribute name="a" attributeType="Integer 16" minDateTimeInterval="1" usesScalarValueType="YES"/>
            <attribute name="b" attributeType="String" indexed="YES" maxDateTimeInterval="1"/>
            <attribute name="c" attributeType="Date" minValueString="2016" defaultValueString="2016-09-17"/>
            <attribute name="d" attributeType="Binary" defaultValueString="AP8Q"/>
            <fetchedProperty name="f" optional="YES">
                <fetchRequest name="fetchedPropertyFetchRequest" entity="A"/>
            </fetchedProperty>
            <fetchIndex name="byA">
                <fetchIndexElement property="a" type="Binary" order="ascending"/>
            </fetchIndex>
            <compoundIndexes/>
            <compoundIndexes>
                <compoundIndex><index value="a"/></compoundIndex>
            </compoundIndexes>
        </entity>
        <entity name="B">
            <relationship name="a" maxCount="1" destinationEntity="B" inverseName="b" inverseEntity="B"/>
            <relationship name="b" maxCount="1" destinationEntity="B" inverseName="b" inverseEntity="B"/>
        </entity>
        <fetchRequest name="R" entity="A" predicateString="a == 1"/>
        <composite name="C"/>
        <novelty name="N" a="1"><inner b="2">text &amp; more</inner></novelty>
        <elements/>
    </model>
    """
}
