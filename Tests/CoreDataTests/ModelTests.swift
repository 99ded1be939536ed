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
    #expect(copy == Models.toDos() && copy.hash == Models.toDos().hash)
    copy.entities[0].renamingIdentifier = "Task"
    #expect(copy != Models.toDos())
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

  @Test func indexesAndDerivedAttributesArePartOfTheModel() throws {
    let model = Models.toDos()
    let toDo = try #require(model.entitiesByName["ToDo"])
    let list = try #require(model.entitiesByName["List"])
    let memo = try #require(toDo.propertiesByName["memo"])
    memo.isIndexedBySpotlight = true
    let lowered = NSExpressionDescription()
    lowered.expression = NSExpression(format: "lowercase:(memo)")
    let index = NSFetchIndexDescription(
      name: "byMemo",
      elements: [
        NSFetchIndexElementDescription(property: memo, collationType: .binary),
        NSFetchIndexElementDescription(property: lowered, collationType: .binary),
      ]
    )
    index.elements[0].isAscending = false
    index.partialIndexPredicate = NSPredicate(format: "done == NO")
    toDo.indexes = [index]
    #expect(index.entity === toDo && index.elements[0].indexDescription === index)
    let count = NSDerivedAttributeDescription()
    count.name = "itemCount"
    count.attributeType = .integer64AttributeType
    count.derivationExpression = NSExpression(format: "items.@count")
    list.properties += [count]

    let copy = try #require(model.copy() as? NSManagedObjectModel)
    let copied = try #require(copy.entitiesByName["ToDo"]?.indexes.first)
    #expect(copied.name == "byMemo" && copied.partialIndexPredicate == index.partialIndexPredicate)
    #expect(copied.elements.map(\.isAscending) == [false, true])
    #expect(copied.elements[0].property === copy.entitiesByName["ToDo"]?.propertiesByName["memo"])
    #expect((copied.elements[1].property as? NSExpressionDescription)?.expression == lowered.expression)
    let derived = copy.entitiesByName["List"]?.propertiesByName["itemCount"] as? NSDerivedAttributeDescription
    #expect(derived?.derivationExpression == count.derivationExpression)

    let stack = try Stack(NSSQLiteStoreType, model: model)
    try stack.context.performAndWait {
      let shopping = List(context: stack.context)
      shopping.title = "Shopping"
      shopping.addToItems(stack.insert("Milk"))
      try stack.context.save()
      stack.context.refresh(shopping, mergeChanges: false)
      #expect(shopping.value(forKey: "itemCount") as? Int == 1)
    }
  }

  @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType]) func fetchedPropertiesFetch(type: String) throws {
    let model = Models.toDos()
    let urgent = NSFetchedPropertyDescription()
    urgent.name = "urgent"
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "ToDo")
    request.predicate = NSPredicate(format: "kind == 1 AND list == $FETCH_SOURCE")
    urgent.fetchRequest = request
    model.entitiesByName["List"]?.properties += [urgent]
    #expect(model.entitiesByName["List"]?.propertiesByName["urgent"] === urgent)
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    let copied = copy.entitiesByName["List"]?.propertiesByName["urgent"] as? NSFetchedPropertyDescription
    #expect(copied?.fetchRequest?.predicate == request.predicate && copied?.fetchRequest?.entityName == "ToDo")

    let stack = try Stack(type, model: model)
    try stack.context.performAndWait {
      let shopping = List(context: stack.context)
      shopping.title = "Shopping"
      let milk = stack.insert("Milk")
      milk.kind = .urgent
      stack.insert("Bread").kind = .urgent
      shopping.addToItems(milk)
      shopping.addToItems(stack.insert("Cheese"))
      try stack.context.save()
      #expect(shopping.value(forKey: "urgent") as? [NSManagedObject] == [milk])
    }
  }

  @Test func aConstraintOfNoAttributesConstrainsNothing() throws {
    let model = Models.toDos()
    model.entitiesByName["ToDo"]?.uniquenessConstraints = [[]]
    #expect(model.entityVersionHashesByName == Models.toDos().entityVersionHashesByName)
    model.entitiesByName["ToDo"]?.uniquenessConstraints = [["nothing"]]
    #expect(model.entityVersionHashesByName.isEmpty)
  }

  @Test func aFetchedPropertyNeedsARequest() throws {
    let model = Models.toDos()
    let urgent = NSFetchedPropertyDescription()
    urgent.name = "urgent"
    model.entitiesByName["List"]?.properties += [urgent]
    #expect(model.entityVersionHashesByName.isEmpty)
  }

  @Test func templatesAreKept() throws {
    let model = Models.toDos()
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "ToDo")
    request.predicate = NSPredicate(format: "sortOrder > $MIN")
    request.fetchLimit = 5
    model.setFetchRequestTemplate(request, forName: "late")
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    #expect(copy.fetchRequestTemplatesByName.keys.sorted() == ["late"])
    #expect(copy.fetchRequestTemplate(forName: "late")?.predicate == request.predicate)
    let made = try #require(copy.fetchRequestFromTemplate(withName: "late", substitutionVariables: ["MIN": 3]))
    #expect(made.predicate == NSPredicate(format: "sortOrder > 3") && made.fetchLimit == 5)
    #expect(copy.fetchRequestFromTemplate(withName: "none", substitutionVariables: [:]) == nil)
    model.setFetchRequestTemplate(nil, forName: "late")
    #expect(model.fetchRequestTemplate(forName: "late") == nil)
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

  @Test func classesInFunctionsHaveNames() throws {
    final class Local: NSManagedObject {}
    let model = Models.toDos()
    model.entitiesByName["ToDo"]?.managedObjectClassName = NSStringFromClass(Local.self)
    model.entitiesByName["List"]?.managedObjectClassName = NSStringFromClass(Nested.self)
    #expect(NSStringFromClass(ToDo.self) == "CoreDataTests.ToDo")
    let stack = try Stack(NSInMemoryStoreType, model: model)
    stack.context.performAndWait {
      #expect(NSEntityDescription.insertNewObject(forEntityName: "ToDo", into: stack.context) is Local)
      #expect(NSEntityDescription.insertNewObject(forEntityName: "List", into: stack.context) is Nested)
    }
  }

  private final class Nested: NSManagedObject {}

  @Test func classesAreFoundByTheirNamesInSource() throws {
    let model = Models.toDos()
    // What the rewriter makes of `@objc(ToDoMO) class ToDo`.
    model.entitiesByName["ToDo"]?.managedObjectClassName = "ToDoMO"
    model.entitiesByName["List"]?.managedObjectClassName = ".List"
    let stack = try Stack(NSInMemoryStoreType, model: model)
    #expect(model.entitiesByName["List"]?.managedObjectClassName == NSStringFromClass(List.self))
    stack.context.performAndWait {
      #expect(NSEntityDescription.insertNewObject(forEntityName: "ToDo", into: stack.context) is ToDo)
      #expect(NSEntityDescription.insertNewObject(forEntityName: "List", into: stack.context) is List)
    }
  }
}

enum CoreDataName_ToDoMO: ManagedObjectClassName {
  static var objectClass: AnyClass { ToDo.self }
}
