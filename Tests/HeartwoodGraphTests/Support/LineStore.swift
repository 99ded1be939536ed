import Foundation
import HeartwoodModel
import HeartwoodStore

/// A store of notes as an application may have its own: a line for the identifier, and a line with a number and a text for each.
final class LineStore: AtomicStore, StoreClass {
  static let typeDescription = StoreTypeDescription(
    type: "Lines",
    displayName: "Lines",
    fileExtensions: ["lines"],
    capabilities: StoreCapabilities(
      kind: .atomic,
      features: [.persistence, .relationships],
      attributeTypes: [.string],
      referenceKinds: [.integer],
      maximumEntityCount: 1
    )
  )

  init(_ setup: StoreSetup) throws {}

  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    let lines = try file.text().split(separator: "\n")
    guard let first = lines.first, let identifier = UUID(uuidString: String(first)) else {
      throw PersistenceError(.fileMalformed, "The first line is no UUID.", context: .init(path: file.path, line: 1))
    }
    return StoreMetadata(identifier: identifier, storeType: typeDescription.type)
  }

  func load(_ file: StoreInput, into loader: StoreLoader) throws {
    let note = try loader.entity(named: "Note")
    for line in try file.text().split(separator: "\n").dropFirst() {
      let fields = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
      try loader.addNode(ReferenceID(text: String(fields[0])), to: note) { node in
        if let about = Int64(fields[1]) {
          try node.setValue(.toOne(loader.objectID(.integer(about), of: note)), forKey: "about")
        }
        try node.setValue(.string(String(fields[2])), forKey: "text")
      }
    }
  }

  func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    try output.write("\(contents.metadata.identifier.uuidString)\n")
    for entity in contents.entities {
      for node in contents.nodes(of: entity) {
        guard case .string(let text) = node["text"] else {
          throw PersistenceError(.valueUnsupported, "A note needs a text.", context: .init(entity: entity.name))
        }
        var about = ""
        if case .toOne(let id) = node["about"] { about = id.reference.text }
        try output.write("\(node.reference.text) \(about) \(text)\n")
      }
    }
  }
}
