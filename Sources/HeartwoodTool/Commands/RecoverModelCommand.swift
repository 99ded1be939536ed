import ArgumentParser
import Heartwood
import HeartwoodFoundation
import HeartwoodSQLite
import HeartwoodStore

struct RecoverModelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover-model",
    abstract: "Makes a model from the records of an SQLite file or a binary store whose model is lost.",
    discussion: """
      Entities, inheritance, and the names of attributes and relationships come from the file, in lower case if nothing in \
      the file shows how they are written. Types, and the destinations of relationships, come from columns, keys and \
      values. Standard error lists what was guessed or is not known. Integers have 64 bits, all values are optional, and \
      to-many relationships whose inverse is to-one have made-up names.

      A binary store of Core Data (of the type CoreDataBinary) contains the names of entities and relationships, but only \
      the positions of attributes: they are called attribute1 and so on. The destinations of relationships are those of \
      the records.

      Given with --model, the recovered model is good for reading (info, dump, fetch, diff, verify) and for converting: \
      heartwood convert makes a new file with the recovered model. The model is marked as recovered, and never written \
      into the old file, because its version hashes differ: the old file can only be read.

      Without an output, the JSON form is printed.

      EXAMPLE
        heartwood recover-model old.sqlite Old.xcdatamodeld
        heartwood dump old.sqlite --model Old.xcdatamodeld
        heartwood recover-model requests.paw Requests.json
      """
  )

  @Argument(help: "The SQLite file or the binary store.", completion: .file())
  var store: String

  @Argument(
    help: "The file or folder to write: an .xcdatamodeld, an .xcdatamodel, or .json.",
    completion: .file()
  )
  var output: String?

  @Flag(help: "Replace what is there.")
  var force = false

  @Flag(help: "Print no notes.")
  var quiet = false

  func validate() throws {
    if force, output == nil { throw ValidationError("--force requires an output.") }
  }

  func run() throws {
    let fileSystem = POSIXFileSystem()
    _ = try fileSystem.storeStatus(atPath: store)
    let type = try StoreRegistry.tool.type(ofFileAt: store, in: fileSystem)
    let format = try StoreRegistry.tool.format(for: type) as? any FileFormat
    guard let recovered = try format?.recoverModel(ofStoreAt: store, options: .readOnly) else {
      throw ToolError(
        at: store,
        "It is a file of the type \(type), from whose records no model can be recovered. If it holds one, heartwood model convert writes it."
      )
    }
    let located = LocatedModel(recovered.model, path: nil, notes: recovered.notes.map { "\(store): \($0)" })
    if !quiet { located.tellNotes() }
    guard let output else {
      return try StandardOutput.write(String(decoding: try recovered.model.encoded(), as: UTF8.self))
    }
    try ModelOutput(destination: output, replaces: force, source: store).write(located)
  }
}
