import ArgumentParser
import Heartwood

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

struct ModelHashCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hash",
    abstract: "Prints the version hashes by which stores know a model.",
    discussion: """
      They are Core Data's, in base64, as heartwood info prints those that a store has. With --json it prints one object with the members \
      entities (an object of hashes, by name), checksum and digest.

      EXAMPLE
        heartwood model hash ToDo.xcdatamodeld --json
      """
  )

  @OptionGroup var arguments: ModelArguments

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let model = try arguments.load().model
    let entities = model.entities.map { (key: $0.name, value: $0.versionHash.base64EncodedString()) }.sorted {
      $0.key < $1.key
    }
    let object = JSONValue.object([
      ("entities", .sorted(entities.map { (key: $0.key, value: JSONValue.string($0.value)) })),
      ("checksum", .string(model.versionChecksum)),
      ("digest", .string(model.versionHashesDigest)),
    ])
    let lines =
      entities.map { (label: $0.key, text: $0.value) } + [
        (label: "checksum", text: model.versionChecksum), (label: "digest", text: model.versionHashesDigest),
      ]
    try StandardOutput.write(json ? object.line : LabelledLines.text(lines))
  }
}
