import Heartwood
import HeartwoodFoundation
import HeartwoodSQLite
import HeartwoodStore

/// Writes a store with a model in which all to-many relationships have an inverse.
///
/// The records are first written to a binary file with the model of the source. So any source is possible, even one
/// whose model is inferred, or one that is not a file.
struct InverseAddition {
  let conversion: Conversion

  /// Returns nil if all to-many relationships have an inverse already.
  func run(_ type: StoreType) throws -> Conversion.Result? {
    let opened = try conversion.source.open()
    let (model, added) = try opened.model.model.addingInverses()
    if added.isEmpty { return nil }
    guard try conversion.source.registry.format(for: type).typeDescription.capabilities.supports(.embeddedModel) else {
      throw ToolError(
        at: conversion.destination.path,
        "A store of type \(type) cannot hold the model with inverses."
      )
    }
    let place = PathParts.join(FileManager.default.temporaryDirectory.path, "inverses")
    let draft = try DraftFolder(beside: try POSIXFileSystem().resolvingSymbolicLinks(inPath: place))
    defer { draft.remove() }
    let copied = try Conversion(
      source: conversion.source,
      destination: Destination(path: draft.storePath, typeName: StoreType.binary.rawValue, isReplaced: true),
      verifies: false,
      progress: conversion.progress
    ).run()
    let report = try migrate(draft.storePath, to: model, type)
    var result = copied
    result.byteCount = try POSIXFileSystem().storeSize(
      at: conversion.destination.place,
      conversion.source.registry.format(for: type)
    )
    result.lostTransactionCount = copied.lostTransactionCount + report.lostTransactionCount
    result.hasRenamedRecords = report.hasRenamedRecords
    result.addedInverses = added
    return result
  }

  private func migrate(_ path: String, to model: ManagedObjectModel, _ type: StoreType) throws -> MigrationReport {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: conversion.source.registry,
      fileSystem: ObservedFileSystem(base: POSIXFileSystem(), progress: conversion.progress)
    )
    let migration = try coordinator.migration(
      ofStoreAt: URL(fileURLWithPath: path),
      type: .binary,
      options: StoreOptions()
    )
    guard let migration else {
      throw ToolError(at: conversion.source.path, "The model with inverses is the same version as the one without.")
    }
    let destination = conversion.destination
    return try migration.run(to: destination.place.argumentURL, type: type, replacing: destination.isReplaced)
  }
}
