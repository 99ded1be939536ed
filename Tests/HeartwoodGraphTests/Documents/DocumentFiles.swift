import Foundation
import Heartwood
import HeartwoodDocuments
import HeartwoodGraph
import HeartwoodTesting

/// Files in memory for tests of documents.
struct DocumentFiles {
  static let url = URL(filePath: "/folder/library.heartwood")
  static let otherURL = URL(filePath: "/folder/other.xml")

  let memory = InMemoryFileSystem()
  let files: FaultInjectingFileSystem

  init() {
    files = FaultInjectingFileSystem(wrapping: memory)
  }

  func coordinator() throws -> PersistentStoreCoordinator { try TestStack.coordinator(files) }

  /// A document whose file has one person.
  @MainActor func document() throws -> PersistentDocument {
    try write(["Ann"])
    return try PersistentDocument(try coordinator(), contentsOf: Self.url)
  }

  /// Makes a file with people, as somebody else does.
  func write(_ names: [String], to url: URL = Self.url, type: StoreType? = nil) throws {
    let coordinator = try coordinator()
    try coordinator.addPersistentStore(type: type, at: url)
    let context = ManagedObjectContext(coordinator)
    for name in names { _ = try context.person(name) }
    try context.save()
  }

  /// The people in a file, as somebody else finds them.
  func names(in url: URL = Self.url, type: StoreType? = nil) throws -> [String] {
    let coordinator = try coordinator()
    try coordinator.addPersistentStore(type: type, at: url)
    return try ManagedObjectContext(coordinator).names()
  }

  func move(_ url: URL, to other: URL) throws {
    try memory.moveFile(atPath: url.path, toPath: other.path, exclusively: true)
  }

  var paths: [String] { memory.paths }
}

extension ManagedObjectContext {
  /// The names of all people, sorted.
  func names() throws -> [String] { try fetch(Person.self).map(\.name).sorted() }
}
