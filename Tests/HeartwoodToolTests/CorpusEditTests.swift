import Foundation
import TestSupport
import Testing

@Suite(
  "Edits of files that Core Data made, from public repositories",
  .enabled(if: ModelCorpus.folder != nil, "set HEARTWOOD_CORPUS to the folder of the corpus")
)
struct CorpusEditTests {
  private static let stores = (try? ModelCorpus.stores().map(\.store)) ?? []

  /// A copy of a store and its log in a folder of its own, and the options that name its model.
  private func copy(_ store: String, to folder: WorkFolder) throws -> [String] {
    let known = try ModelCorpus.stores().first { $0.store == store }
    let source = try ModelCorpus.url(store)
    for ending in ["", "-wal"] where FileManager.default.fileExists(atPath: source.path + ending) {
      let target = folder.path("bare/store.sqlite\(ending)").path
      try FileManager.default.createDirectory(at: folder.path("bare"), withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: source.path + ending, toPath: target)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: target)
    }
    return try known?.model.map { ["--model", try ModelCorpus.url($0).path] } ?? []
  }

  /// The types of attributes by their names, by entity; those that are inherited are among them, and those that are to be unique are not.
  private func types(in model: [String: Any]) -> [String: [String: String]] {
    let entities = (model["entities"] as? [[String: Any]]) ?? []
    var own: [String: [String: String]] = [:]
    var parents: [String: String] = [:]
    for entity in entities {
      guard let name = entity["name"] as? String else { continue }
      let unique = Set((entity["unique"] as? [[String]] ?? []).joined())
      for property in entity["properties"] as? [[String: Any]] ?? [] where property["derivation"] == nil {
        guard let attribute = property["name"] as? String, !unique.contains(attribute) else { continue }
        own[name, default: [:]][attribute] = property["type"] as? String
      }
      parents[name] = entity["parent"] as? String
    }
    return parents.keys.reduce(into: own) { all, name in
      var parent = parents[name]
      while let ancestor = parent {
        all[name, default: [:]].merge(own[ancestor] ?? [:]) { first, _ in first }
        parent = parents[ancestor]
      }
    }
  }

  /// Another value than the one that a dump has, as the command line takes it; nil for types that are left alone.
  private func other(than value: Any, _ type: String) -> String? {
    switch type {
    case "string": value is String ? "edited" : nil
    case "boolean": (value as? Bool).map { $0 ? "false" : "true" }
    case "integer16", "integer32", "integer64": (value as? Int).map { $0 == 1 ? "2" : "1" }
    case "date": value is String ? "2001-02-03T04:05:06Z" : nil
    default: nil
    }
  }

  /// A record with an attribute that can have another value, one with a text rather than others.
  private func place(
    in dump: [[String: Any]],
    _ types: [String: [String: String]]
  ) -> (entity: String, id: String, assignment: String)? {
    for wanted in [["string"], ["integer16", "integer32", "integer64", "boolean", "date"]] {
      for record in dump {
        guard let entity = record["$entity"] as? String, let id = record["$id"] as? String else { continue }
        for (name, type) in (types[entity] ?? [:]).sorted(by: { $0.key < $1.key }) where wanted.contains(type) {
          if let value = record[name].flatMap({ other(than: $0, type) }) { return (entity, id, "\(name)=\(value)") }
        }
      }
    }
    return nil
  }

  @Test("One value is changed, the others stay, and all is put back", arguments: stores)
  func editing(_ store: String) throws {
    let folder = try WorkFolder()
    let model = try copy(store, to: folder)
    let dump = try folder.heartwood(["dump", "bare/store.sqlite"] + model)
    // Some files hold no model, and theirs is nowhere.
    guard dump.status == 0 else { return }
    let shown = try folder.heartwood("model", "show", model.last ?? "bare/store.sqlite", "--format", "json").json()
    let types = types(in: try #require(shown as? [String: Any]))
    guard let place = place(in: try dump.jsonLines(), types) else { return }
    let arguments = [
      "edit", "bare/store.sqlite", "--entity", place.entity, "--id", place.id, "--set", place.assignment,
    ]
    let dry = try folder.heartwood(arguments + model + ["--dry-run"])
    #expect(try folder.heartwood(["dump", "bare/store.sqlite"] + model).output == dump.output)
    let edit = try folder.heartwood(arguments + model)
    #expect(edit.status == dry.status, "\(edit.errors)\(dry.errors)")
    guard edit.status == 0 else {
      // Core Data keeps more in the file, it is of another version, or the record is not as the model wants it.
      let reasons = ["can be read, but not written", "another version of the model", "does not allow the change"]
      #expect(reasons.contains(where: edit.errors.contains), "\(edit.errors)")
      #expect(!folder.exists("bare/store.sqlite.backup"))
      #expect(try folder.heartwood(["dump", "bare/store.sqlite"] + model).output == dump.output)
      return
    }
    let second = model.isEmpty ? [] : ["--second-model", model[1]]
    let difference = try folder.heartwood(
      ["diff", "bare/store.sqlite.backup", "bare/store.sqlite", "--type", "SQLite"] + model + second
    )
    let changed = difference.lines.filter { !$0.hasPrefix("    ") }
    #expect(changed == ["~ \(place.entity) \(place.id)", "1 record with other values"], "\(difference.text)")
    let back = try folder.heartwood("edit", "bare/store.sqlite", "--restore", "bare/store.sqlite.backup")
    #expect(back.status == 0, "\(back.errors)")
    #expect(try folder.heartwood(["dump", "bare/store.sqlite"] + model).output == dump.output)
  }
}
