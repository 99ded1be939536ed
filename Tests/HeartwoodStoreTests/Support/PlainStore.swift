import HeartwoodModel
import HeartwoodStore

/// A store that can keep everything.
final class PlainStore: AtomicStore, StoreClass {
  static let typeDescription = StoreTypeDescription(
    type: "Plain",
    displayName: "Plain",
    fileExtensions: ["plain"],
    mimeTypes: ["application/x-plain"],
    capabilities: StoreCapabilities(
      kind: .atomic,
      features: [.persistence, .relationships, .userMetadata],
      attributeTypes: Set(AttributeType.allCases),
      referenceKinds: [.uuid, .integer, .string]
    )
  )

  static func recognizes(prefix: [UInt8]) -> Bool { prefix.starts(with: Array("{\"metadata\"".utf8)) }

  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try PlainForm(file).metadata
  }

  init(_ setup: StoreSetup) {}

  func load(_ file: StoreInput, into loader: StoreLoader) throws {
    try PlainForm(file).load(into: loader)
  }

  func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    try PlainForm(contents, over: previous).write(to: output)
    contents.attachment = (contents.attachment as? Int ?? 0) + 1
  }
}
