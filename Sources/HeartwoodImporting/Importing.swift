public import HeartwoodFoundation
public import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// Makes objects from records, and updates existing ones.
  ///
  ///     let toDos = try context.importObjects(ToDo.self, fromJSON: data)
  ///     try context.save()
  ///
  /// The keys of a record are the names of properties, unless the model says otherwise in its `userInfo`, with the keys
  /// of MagicalRecord's import. If an object has the record's value of the entity's `relatedByAttribute`, the record
  /// updates that object. The objects of many records are fetched together.
  ///
  /// The import makes unsaved changes in the context. If there are faults, they are collected, all changes are undone,
  /// and the context is as it was before.
  ///
  /// - Returns: an object for each record, in the order of the records, without new objects that have refused their
  ///   record (``ImportingObject/shouldImport(_:)``).
  /// - Throws: ``PersistenceError/Code/importFailed`` with up to ``ImportOptions/greatestFaultCount`` faults and their
  ///   places; ``PersistenceError/Code/importMappingUnusable`` if the model's `userInfo` does not fit the model;
  ///   ``PersistenceError/Code/entityUnknown``; and the errors of fetching.
  @discardableResult
  public func importObjects<Object: ManagedObject>(
    _ objectClass: Object.Type,
    from records: some Sequence<ImportValue>,
    options: ImportOptions = ImportOptions()
  ) throws -> [Object] {
    typed(try importRecords(entity(for: objectClass), options, list(records)))
  }

  /// Makes objects of an entity from records, and updates existing ones; see ``importObjects(_:from:options:)``.
  @discardableResult
  public func importObjects(
    entityName: String,
    from records: some Sequence<ImportValue>,
    options: ImportOptions = ImportOptions()
  ) throws -> [ManagedObject] {
    try importRecords(entity(named: entityName), options, list(records))
  }

  /// Makes objects from dictionaries of other parsers; see ``importObjects(_:from:options:)`` and
  /// ``ImportValue/init(_:)``.
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

  /// Makes objects from JSON, which is an array of records or a single record; an array is read record by record. See
  /// ``importObjects(_:from:options:)``.
  ///
  /// - Throws: also ``PersistenceError/Code/fileMalformed`` if the data is not valid JSON, with the line, the column
  ///   and the byte.
  @discardableResult
  public func importObjects<Object: ManagedObject>(
    _ objectClass: Object.Type,
    fromJSON data: Data,
    options: ImportOptions = ImportOptions()
  ) throws -> [Object] {
    typed(try importJSON(data, entity(for: objectClass), options))
  }

  /// Makes objects of an entity from JSON; see ``importObjects(_:fromJSON:options:)``.
  @discardableResult
  public func importObjects(
    entityName: String,
    fromJSON data: Data,
    options: ImportOptions = ImportOptions()
  ) throws -> [ManagedObject] {
    try importJSON(data, entity(named: entityName), options)
  }

  /// Makes an object from a record, or updates the existing one; see ``importObjects(_:from:options:)``.
  ///
  /// - Returns: the object, or nil if a new object has refused the record.
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
  /// Sets the values of a record in this object, whichever object the record identifies; see
  /// ``ManagedObjectContext/importObjects(_:from:options:)``.
  ///
  /// - Throws: the same errors, and ``PersistenceError/Code/objectNotFound`` if the object no longer exists. If it
  ///   throws, the object and the context are as they were before.
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

  /// Returns a function that returns one record after the other.
  private func list(_ records: some Sequence<ImportValue>) -> (Bool) throws -> ImportValue? {
    var iterator = records.makeIterator()
    return { _ in iterator.next() }
  }

  /// - Parameter next: returns the next record; its argument says whether it is the first.
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

/// Options for an import.
public struct ImportOptions {
  /// Whether the imported objects replace those of a to-many relationship. By default they are added, as with
  /// MagicalRecord.
  public var replacesToManyRelationships = false
  /// The number of faults after which the import ends.
  public var greatestFaultCount = 100
  /// A closure that is called every few hundred records with the number of records imported so far. An error that it
  /// throws ends the import.
  public var progressHandler: ((Int) throws -> Void)?

  /// Makes the default options.
  public init() {}
}

// MARK: ImportingObject

/// An object that customizes its import.
///
/// An error that the functions throw is a fault of the import, which is collected with the others. The functions may
/// change this object and others; these changes are undone if the import fails. They must not save.
public protocol ImportingObject: ManagedObject {
  /// Returns whether the object accepts a record. A new object that does not is deleted.
  func shouldImport(_ record: ImportValue) throws -> Bool

  /// Called before the first value is set.
  func willImport(_ record: ImportValue) throws

  /// Imports the value of one property in the object's own way. Return false to have the value imported in the usual
  /// way.
  func importValue(_ value: ImportValue, forKey name: String) throws -> Bool

  /// Called after all values are set, including those of the nested records.
  func didImport(_ record: ImportValue) throws
}

extension ImportingObject {
  /// Returns true: every record is imported.
  public func shouldImport(_ record: ImportValue) throws -> Bool { true }

  /// Does nothing.
  public func willImport(_ record: ImportValue) throws {}

  /// Returns false: every value is imported in the usual way.
  public func importValue(_ value: ImportValue, forKey name: String) throws -> Bool { false }

  /// Does nothing.
  public func didImport(_ record: ImportValue) throws {}
}
