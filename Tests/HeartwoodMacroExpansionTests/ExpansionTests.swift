import Testing

@Suite("Expansion of macros")
struct ExpansionTests {
  @Test("A class becomes what a person would write")
  func entity() {
    expectExpansion(
      """
      @Entity final class ToDo: ManagedObject {
        @Attribute(.unique, .indexed, renamedFrom: "title") var memo: String = ""
        @Relationship(inverse: \\Lists.List.items, deleteRule: .cascade) var list: List?
        var other = 0
      }
      """,
      Self.expandedClass
    )
  }

  private static let expandedClass =
    """
    final class ToDo: ManagedObject {
      var memo: String {
        get {
          self[ToDo.memoKey]
        }
        set {
          self[ToDo.memoKey] = newValue
        }
      }

      /// The name and type of the property `memo`.
      static let memoKey = AttributeKey<String>("memo")
      var list: List? {
        get {
          self[ToDo.listKey]
        }
        set {
          self[ToDo.listKey] = newValue
        }
      }

      /// The name and type of the property `list`.
      static let listKey = ToOneKey<List>("list")
      var other = 0

      /// The name of the entity whose objects are of this class.
      override class var entityName: String {
        "ToDo"
      }

      /// The entity of the class's objects, with the properties that the class adds.
      override class var entityDefinition: EntityDefinition? {
        get throws {
          try EntityDefinition(
            name: "ToDo",
            managedObjectClassName: "ToDo",
            superentityName: super.entityDefinition?.name,
            properties: [
              .attribute(memoKey, default: "" as String, renamedFrom: "title"),
              .toOne(listKey, inverse: Lists.List.itemsKey.name, deleteRule: .cascade),
            ],
            uniquenessConstraints: [[memoKey.name]],
            fetchIndexes: [FetchIndexDescription(name: "byMemoIndex", properties: [memoKey.name])]
          )
        }
      }

      /// The name of the property that is read by a key path.
      override class func propertyName(forKeyPath keyPath: AnyKeyPath) -> String? {
        switch keyPath {
        case \\ToDo.memo:
          memoKey.name
        case \\ToDo.list:
          listKey.name
        default:
          super.propertyName(forKeyPath: keyPath)
        }
      }
    }
    """

  @Test("Access levels, names and options of an entity are passed on")
  func options() {
    expectExpansion(
      """
      @Entity("Folder", abstract: true, unique: [["a"]], renamedFrom: "F", versionHashModifier: "1", userInfo: ["a": "b"])
      open class List: Base {
        @Attribute public private(set) var name: String?
      }
      """,
      """
      open class List: Base {
        public private(set) var name: String? {
          get {
            self[List.nameKey]
          }
          set {
            self[List.nameKey] = newValue
          }
        }

        /// The name and type of the property `name`.
        public static let nameKey = AttributeKey<String?>("name")

        /// The name of the entity whose objects are of this class.
        open override class var entityName: String {
          "Folder"
        }

        /// The entity of the class's objects, with the properties that the class adds.
        open override class var entityDefinition: EntityDefinition? {
          get throws {
            try EntityDefinition(
              name: "Folder",
              managedObjectClassName: "List",
              isAbstract: true,
              superentityName: super.entityDefinition?.name,
              properties: [
                .attribute(nameKey),
              ],
              uniquenessConstraints: [["a"]],
              renamingIdentifier: "F",
              versionHashModifier: "1",
              userInfo: ["a": "b"]
            )
          }
        }

        /// The name of the property that is read by a key path.
        open override class func propertyName(forKeyPath keyPath: AnyKeyPath) -> String? {
          switch keyPath {
          case \\List.name:
            nameKey.name
          default:
            super.propertyName(forKeyPath: keyPath)
          }
        }
      }
      """
    )
  }

  @Test("Properties have the accessors and the key that their types call for", arguments: PropertyCase.all)
  func property(_ property: PropertyCase) {
    let setter = property.setter.map { "\n    set {\n      \($0)\n    }" } ?? ""
    expectExpansion(
      "class C: ManagedObject {\n  \(property.macro) var \(property.declaration)\n}",
      """
      class C: ManagedObject {
        var \(property.declaration.split(separator: " = ")[0]) {
          get {
            \(property.getter)
          }\(setter)
        }

        /// The name and type of the property `p`.
        static let pKey = \(property.key)
      }
      """
    )
  }

  struct PropertyCase: Sendable, CustomStringConvertible {
    let macro: String
    let declaration: String
    let key: String
    var getter = "self[C.pKey]"
    var setter: String? = "self[C.pKey] = newValue"
    var description: String { "\(macro) var \(declaration)" }

    static let all = [
      PropertyCase(
        macro: "@Attribute(derivedFrom: \"a\")",
        declaration: "p: Int?",
        key: "AttributeKey<Int?>(\"p\")",
        setter: nil
      ),
      PropertyCase(
        macro: "@Attribute(transformer: \"T\")",
        declaration: "p: Color?",
        key: "TransformedKey<Color>(\"p\")"
      ),
      PropertyCase(
        macro: "@Attribute(name: \"description\")",
        declaration: "p: Int",
        key: "AttributeKey<Int>(\"description\")"
      ),
      PropertyCase(
        macro: "@Attribute",
        declaration: "`p`: Optional<Int> = nil",
        key: "AttributeKey<Optional<Int>>(\"p\")"
      ),
      PropertyCase(macro: "@Relationship", declaration: "p: Optional<D>", key: "ToOneKey<D>(\"p\")"),
      PropertyCase(
        macro: "@Relationship",
        declaration: "p: RelatedSet<D> = []",
        key: "ToManyKey<D>(\"p\")",
        getter: "self[set: C.pKey]",
        setter: "self[set: C.pKey] = newValue"
      ),
      PropertyCase(
        macro: "@Relationship",
        declaration: "p: Heartwood.RelatedList<M.D>",
        key: "ToManyKey<M.D>(\"p\")",
        getter: "self[list: C.pKey]",
        setter: "self[list: C.pKey] = newValue"
      ),
      PropertyCase(macro: "@Relationship(.ordered)", declaration: "p: [D]", key: "ToManyKey<D>(\"p\")"),
      PropertyCase(
        macro: "@Relationship",
        declaration: "p: Set<D>",
        key: "ToManyKey<D>(\"p\")",
        getter: "Set(self[C.pKey])",
        setter: "self[C.pKey] = Array(newValue)"
      ),
    ]
  }
}
