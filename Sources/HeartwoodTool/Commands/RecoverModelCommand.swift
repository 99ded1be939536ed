import ArgumentParser
import Heartwood
import HeartwoodFoundation
import HeartwoodSQLite
import HeartwoodStore

struct RecoverModelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover-model",
    abstract: "Makes a model of the records of an SQLite file or a binary store whose model nobody has any more.",
    discussion: """
      Entities, inheritance, and the names of attributes and relationships come from the file, in small letters if nothing there tells how they are \
      written; types, and where relationships lead, come from columns, keys and values. What was guessed or cannot be told is said on standard error. \
      Integers are of 64 bits, all values are optional, and to-many relationships whose inverse leads to one record have names that were made up.

      A binary store of Core Data (of the type CoreDataBinary) has the names of entities and relationships, and attributes by position alone: they are \
      called attribute1 and so on. Relationships lead where those of the records lead.

      Given with --model it is good for looking (info, dump, fetch, diff, verify) and for converting: heartwood convert makes a new file that is of \
      the recovered model. It is marked as recovered, and never written into the old file, whose version hashes are others: that is only read.

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
    if force, output == nil { throw ValidationError("--force is about the output: give one.") }
  }

  func run() throws {
    let fileSystem = POSIXFileSystem()
    _ = try fileSystem.storeStatus(atPath: store)
    let type = try StoreRegistry.tool.type(ofFileAt: store, in: fileSystem)
    let format = try StoreRegistry.tool.format(for: type) as? any FileFormat
    guard let recovered = try format?.recoverModel(ofStoreAt: store, options: .readOnly) else {
      throw ToolError(
        at: store,
        "It is a file of the type \(type), of whose records no model is recovered. Where it holds one, heartwood model convert writes that."
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
