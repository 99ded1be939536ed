import HeartwoodModel
import HeartwoodStore

/// A store that can keep hardly anything: one entity of strings and numbers, without metadata.
final class NarrowStore: AtomicStore, StoreClass {
  static let typeDescription = StoreTypeDescription(
    type: "Narrow",
    displayName: "Narrow",
    fileExtensions: ["narrow", "plain"],
    capabilities: StoreCapabilities(
      kind: .atomic,
      features: [.persistence],
      attributeTypes: [.string, .integer64],
      referenceKinds: [.integer],
      maximumEntityCount: 1
    )
  )

  static func recognizes(prefix: [UInt8]) -> Bool { prefix.starts(with: Array("narrow".utf8)) }

  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try PlainForm(file).metadata
  }

  init(_ setup: StoreSetup) {}

  func load(_ file: StoreInput, into loader: StoreLoader) throws {
    try PlainForm(file).load(into: loader)
  }

  func validate(_ contents: StoreContents) throws {
    for entity in contents.entities {
      for node in contents.nodes(of: entity) where node["name"] == .string("unspeakable") {
        throw PersistenceError(.valueUnsupported, "The store does not keep such names.")
      }
    }
  }

  func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    try PlainForm(contents, over: previous).write(to: output)
  }
}
