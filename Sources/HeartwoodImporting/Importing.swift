public import HeartwoodFoundation
public import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// Makes objects of records, and updates those that are there already.
  ///
  ///     let toDos = try context.importObjects(ToDo.self, fromJSON: data)
  ///     try context.save()
  ///
  /// The keys of a record are the names of properties, unless the model says otherwise in its `userInfo`, under the keys that
  /// MagicalRecord's import has. A record whose value of the entity's `relatedByAttribute` an object has updates that
  /// one. The objects of many records are fetched together.
  ///
  /// What is imported are changes of the context, to be saved or not. Where anything is wrong, the faults are gathered, all that was done is
  /// taken back as by an undo, and the context is as it was before.
  ///
  /// - Returns: an object for each record, in their order, without new ones that have refused it
  ///   (``ImportingObject/shouldImport(_:)``).
  /// - Throws: ``PersistenceError/Code/importFailed`` with the faults and their places, of which ``ImportOptions/greatestFaultCount`` are gathered;
  ///   ``PersistenceError/Code/importMappingUnusable``
  ///   where the model's `userInfo` does not fit the model; ``PersistenceError/Code/entityUnknown``; what fetching throws.
  @discardableResult
  public func importObjects<Object: ManagedObject>(
    _ objectClass: Object.Type,
    from records: some Sequence<ImportValue>,
    options: ImportOptions = ImportOptions()
  ) throws -> [Object] {
    typed(try importRecords(entity(for: objectClass), options, list(records)))
  }

  /// Makes objects of an entity of records, and updates those that are there already; see ``importObjects(_:from:options:)``.
  @discardableResult
  public func importObjects(
    entityName: String,
    from records: some Sequence<ImportValue>,
    options: ImportOptions = ImportOptions()
  ) throws -> [ManagedObject] {
    try importRecords(entity(named: entityName), options, list(records))
  }

  /// Makes objects of dictionaries, as other parsers give them; see ``importObjects(_:from:options:)`` and ``ImportValue/init(_:)``.
  @discardableResult
  public func importObjects<Object: ManagedObject>(
    _ objectClass: Object.Type,
    fromDictionaries dictionaries: some Sequence<[String: Any]>,
    options: ImportOptions = ImportOptions()
  ) throws -> [Object] {
    var iterator = dictionaries.makeIterator()
    var index = -1
    return typed(
      try importRecords(entity(for: objectClass), options) { _ in
        index += 1
        return try iterator.next().map { try ImportValue($0, at: .element(.root, index)) }
      }
    )
  }

  /// Makes objects of JSON: of the records of an array, one after the other, or of a single record; see
  /// ``importObjects(_:from:options:)``.
  ///
  /// - Throws: also ``PersistenceError/Code/fileMalformed`` where it is no JSON, with the line, the column and the byte.
  @discardableResult
  public func importObjects<Object: ManagedObject>(
    _ objectClass: Object.Type,
    fromJSON data: Data,
    options: ImportOptions = ImportOptions()
  ) throws -> [Object] {
    typed(try importJSON(data, entity(for: objectClass), options))
  }

  /// Makes objects of an entity of JSON; see ``importObjects(_:fromJSON:options:)``.
  @discardableResult
  public func importObjects(
    entityName: String,
    fromJSON data: Data,
    options: ImportOptions = ImportOptions()
  ) throws -> [ManagedObject] {
    try importJSON(data, entity(named: entityName), options)
  }

  /// Makes an object of a record, or updates the one that is there already; see ``importObjects(_:from:options:)``.
  ///
  /// - Returns: the object; nil where it is a new one that has refused the record.
  @discardableResult
  public func importObject<Object: ManagedObject>(
    _ objectClass: Object.Type,
    from record: ImportValue,
    options: ImportOptions = ImportOptions()
  ) throws -> Object? {
    let entity = try entity(for: objectClass)
    let objects: [Object] = typed(try importRecords(entity, options, isList: false, list(CollectionOfOne(record))))
    return objects.first
  }
}

extension ManagedObject {
  /// Takes the values of a record, whichever object its key names; see ``ManagedObjectContext/importObjects(_:from:options:)``.
  ///
  /// - Throws: as that does, and ``PersistenceError/Code/objectNotFound`` if the object is gone. The object and the context are as they were
  ///   before then.
  public final func importValues(from record: ImportValue, options: ImportOptions = ImportOptions()) throws {
    let context = try usableContext
    try context.doingWholly { try ImportPass(context, options).run(record, into: self) }
  }
}

// MARK: How

extension ManagedObjectContext {
  private func entity(for objectClass: ManagedObject.Type) throws(PersistenceError) -> EntityDescription {
    try persistentStoreCoordinator.objectClasses.entity(for: objectClass)
  }

  /// The objects of an entity are of the class that the coordinator was given for it.
  private func typed<Object: ManagedObject>(_ objects: [ManagedObject]) -> [Object] {
    objects.compactMap { $0 as? Object }
  }

  /// What gives one record after the other.
  private func list(_ records: some Sequence<ImportValue>) -> (Bool) throws -> ImportValue? {
    var iterator = records.makeIterator()
    return { _ in iterator.next() }
  }

  /// - Parameter next: gives the next record, and is told whether it is the first.
  private func importRecords(
    _ entity: EntityDescription,
    _ options: ImportOptions,
    isList: Bool = true,
    _ next: (Bool) throws -> ImportValue?
  ) throws -> [ManagedObject] {
    var isFirst = true
    return try doingWholly {
      try ImportPass(self, options).run(entity, isList: isList) {
        defer { isFirst = false }
        return try next(isFirst)
      }
    }
  }

  private func importJSON(
    _ data: Data,
    _ entity: EntityDescription,
    _ options: ImportOptions
  ) throws -> [ManagedObject] {
    var reader = JSONReader(data)
    let isList = reader.beginArray()
    return try importRecords(entity, options, isList: isList) { isFirst in
      if isList { return try reader.readElement(isFirst: isFirst) }
      if !isFirst { return nil }
      let record = try reader.readValue(depth: 0)
      try reader.readEnd()
      return record
    }
  }
}

// MARK: ImportOptions

/// How records are imported.
public struct ImportOptions {
  /// Whether a to-many relationship leads to nothing but the imported objects afterwards. Otherwise, as with MagicalRecord, they are added
  /// to those that it leads to already.
  public var replacesToManyRelationships = false
  /// How many faults are gathered before the import ends.
  public var greatestFaultCount = 100
  /// Called in between with the number of records that have been imported so far, some hundreds apart. What it throws ends the import.
  public var progressHandler: ((Int) throws -> Void)?

  /// The usual options.
  public init() {}
}

// MARK: ImportingObject

/// An object that has a say in how it is imported.
///
/// What the functions throw is a fault of the import, which is gathered with the others. They may change the object and others, which is
/// taken back where the import fails; they must not save.
public protocol ImportingObject: ManagedObject {
  /// Whether the object takes the values of a record. A new object that does not is gone.
  func shouldImport(_ record: ImportValue) throws -> Bool

  /// Called before the first value is set.
  func willImport(_ record: ImportValue) throws

  /// Takes the value of one property in its own way, and returns whether it has; otherwise the import does.
  func importValue(_ value: ImportValue, forKey name: String) throws -> Bool

  /// Called when all values are set, and those of the records in this one.
  func didImport(_ record: ImportValue) throws
}

extension ImportingObject {
  /// Every record is imported.
  public func shouldImport(_ record: ImportValue) throws -> Bool { true }

  /// Does nothing.
  public func willImport(_ record: ImportValue) throws {}

  /// Takes no value in its own way.
  public func importValue(_ value: ImportValue, forKey name: String) throws -> Bool { false }

  /// Does nothing.
  public func didImport(_ record: ImportValue) throws {}
}
