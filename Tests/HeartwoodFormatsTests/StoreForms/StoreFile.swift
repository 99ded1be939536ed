import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

typealias AtomicStoreClass = AtomicStore & StoreClass

/// A file in memory of any type of atomic store, written and read by the engine.
struct StoreFile {
  static let path = "/sample"

  let storeClass: any AtomicStoreClass.Type
  let model: ManagedObjectModel
  var options = StoreOptions()
  let files = InMemoryFileSystem()

  init(_ storeClass: any AtomicStoreClass.Type, _ model: ManagedObjectModel, options: StoreOptions = StoreOptions()) {
    self.storeClass = storeClass
    self.model = model
    self.options = options
  }

  var setup: StoreSetup {
    StoreSetup(
      model: model,
      configurationName: nil,
      entities: model.entities,
      path: Self.path,
      options: options
    )
  }

  var bytes: [UInt8] {
    get throws { try #require(files.contents(ofFileAtPath: Self.path)) }
  }

  var text: String {
    get throws { try #require(String(validating: try bytes, as: UTF8.self)) }
  }

  func write(_ bytes: [UInt8]) throws { try files.setContents(bytes, ofFileAtPath: Self.path) }

  func write(_ text: String) throws { try write(Array(text.utf8)) }

  /// Writes a file of `contents` and returns its bytes.
  @discardableResult
  func create(_ contents: StoreContents) throws -> [UInt8] {
    var contents = contents
    contents.attachment = nil
    _ = try AtomicStoreEngine.create(
      AtomicClassFormat(storeClass),
      contents: contents,
      setup: setup,
      fileSystem: files,
      replacing: true
    )
    return try bytes
  }

  func open() throws -> AtomicStoreEngine {
    try AtomicStoreEngine.open(AtomicClassFormat(storeClass), setup: setup, fileSystem: files)
  }

  /// What a file of `bytes` holds.
  func read(_ bytes: [UInt8]) throws -> StoreContents {
    try write(bytes)
    return try open().contents()
  }

  /// The error of opening a file of `bytes`, or nil where there is none.
  func refusal(of bytes: [UInt8]) throws -> PersistenceError? {
    do {
      _ = try read(bytes)
      return nil
    } catch let error as PersistenceError {
      return error
    }
  }

  var input: StoreInput {
    get throws { try StoreInput(try files.openFile(atPath: Self.path)) }
  }
}
