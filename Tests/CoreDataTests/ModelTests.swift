import CoreData
import Testing

@Suite struct ModelTests {
  @Test func descriptionsReferToEachOther() throws {
    let model = Models.toDos()
    let toDo = try #require(model.entitiesByName["ToDo"])
    let list = try #require(model.entitiesByName["List"])
    #expect(toDo.managedObjectModel === model)
    #expect(toDo.relationshipsByName["list"]?.destinationEntity === list)
    #expect(list.relationshipsByName["items"]?.inverseRelationship === toDo.relationshipsByName["list"])
    #expect(list.relationshipsByName["items"]?.isToMany == true)
    #expect(toDo.attributesByName["sortOrder"]?.attributeType == .integer16AttributeType)
    #expect(toDo.attributesByName["sortOrder"]?.attributeValueClassName == "NSNumber")
    #expect(toDo.relationships(forDestination: list).map(\.name) == ["list"])
  }

  @Test func subentitiesInheritProperties() throws {
    let parent = NSEntityDescription()
    parent.name = "Parent"
    parent.isAbstract = true
    parent.properties = [Models.attribute("name", .stringAttributeType)]
    let child = NSEntityDescription()
    child.name = "Child"
    child.properties = [Models.attribute("age", .integer32AttributeType)]
    parent.subentities = [child]
    let model = NSManagedObjectModel()
    model.entities = [parent, child]
    #expect(child.superentity === parent && child.isKindOf(entity: parent) && !parent.isKindOf(entity: child))
    #expect(child.properties.map(\.name) == ["name", "age"])
    let stack = try Stack(NSSQLiteStoreType, model: model)
    try stack.context.performAndWait {
      let object = NSManagedObject(entity: child, insertInto: stack.context)
      object.setValuesForKeys(["name": "Anna", "age": 3])
      try stack.context.save()
      let found = try stack.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Parent"))
      #expect(found == [object] && found[0].entity === child)
    }
  }

  @Test func equalModelsHaveEqualHashes() throws {
    #expect(Models.toDos().entityVersionHashesByName == Models.toDos().entityVersionHashesByName)
    #expect(Models.toDos().entityVersionHashesByName.count == 2)
    let copy = try #require(Models.toDos().copy() as? NSManagedObjectModel)
    #expect(copy.entityVersionHashesByName == Models.toDos().entityVersionHashesByName)
    copy.entities[0].renamingIdentifier = "Task"
    #expect(copy.entitiesByName["ToDo"]?.renamingIdentifier == "Task")
  }

  @Test func modelsAreReadFromXcodeFiles() throws {
    let stack = try Stack(NSInMemoryStoreType)
    let bundle = stack.folder.appendingPathComponent("Notes.xcdatamodeld")
    let version = bundle.appendingPathComponent("Notes.xcdatamodel")
    try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Note" representedClassName="NSManagedObject" syncable="YES">
          <attribute name="text" optional="YES" attributeType="String" defaultValueString="new"/>
        </entity>
      </model>
      """
    try text.write(to: version.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
    let model = try #require(NSManagedObjectModel(contentsOf: bundle))
    #expect(model.entities.map(\.name) == ["Note"])
    #expect(model.entitiesByName["Note"]?.attributesByName["text"]?.defaultValue as? String == "new")
    #expect(NSManagedObjectModel(contentsOf: stack.folder.appendingPathComponent("None.momd")) == nil)
    let merged = try #require(NSManagedObjectModel(byMerging: [model, Models.toDos()]))
    #expect(Set(merged.entitiesByName.keys) == ["Note", "ToDo", "List"])
  }

  @Test func configurationsHoldEntities() throws {
    let model = Models.toDos()
    model.setEntities([try #require(model.entitiesByName["ToDo"])], forConfigurationName: "Cloud")
    #expect(model.configurations == ["Cloud"])
    #expect(model.entities(forConfigurationName: "Cloud")?.map(\.name) == ["ToDo"])
    #expect(model.entities(forConfigurationName: nil)?.count == 2)
    #expect(model.entities(forConfigurationName: "Nothing") == nil)
  }

  @Test func objectsOfAMissingClassAreManagedObjects() throws {
    let model = Models.toDos()
    model.entitiesByName["ToDo"]?.managedObjectClassName = "NobodyHasThisClass"
    let stack = try Stack(NSInMemoryStoreType, model: model)
    stack.context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "ToDo", into: stack.context)
      #expect(type(of: object) == NSManagedObject.self)
    }
  }

  @Test func classesAreFoundByTheirNamesInSource() throws {
    let model = Models.toDos()
    // What the rewriter makes of `@objc(ToDoMO) class ToDo`.
    model.entitiesByName["ToDo"]?.managedObjectClassName = "ToDoMO"
    model.entitiesByName["List"]?.managedObjectClassName = ".List"
    let stack = try Stack(NSInMemoryStoreType, model: model)
    stack.context.performAndWait {
      #expect(NSEntityDescription.insertNewObject(forEntityName: "ToDo", into: stack.context) is ToDo)
      #expect(NSEntityDescription.insertNewObject(forEntityName: "List", into: stack.context) is List)
    }
  }
}

enum CoreDataName_ToDoMO: ManagedObjectClassName {
  static var objectClass: AnyClass { ToDo.self }
}
