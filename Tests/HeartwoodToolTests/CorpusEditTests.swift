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

  /// The names of attributes that are text, by entity; those that are inherited are among them.
  private func texts(in model: [String: Any]) -> [String: Set<String>] {
    let entities = (model["entities"] as? [[String: Any]]) ?? []
    var own: [String: Set<String>] = [:]
    var parents: [String: String] = [:]
    for entity in entities {
      guard let name = entity["name"] as? String else { continue }
      let unique = Set((entity["unique"] as? [[String]] ?? []).joined())
      let properties = (entity["properties"] as? [[String: Any]] ?? []).filter { $0["type"] as? String == "string" }
      own[name] = Set(properties.compactMap { $0["name"] as? String }).subtracting(unique)
      parents[name] = entity["parent"] as? String
    }
    return own.reduce(into: [:]) { all, entry in
      var (texts, parent) = (entry.value, parents[entry.key])
      while let name = parent {
        texts.formUnion(own[name] ?? [])
        parent = parents[name]
      }
      all[entry.key] = texts
    }
  }

  /// A record with a text, and the name of its attribute.
  private func place(
    in dump: [[String: Any]],
    _ texts: [String: Set<String>]
  ) -> (entity: String, id: String, attribute: String)? {
    for record in dump {
      guard let entity = record["$entity"] as? String, let id = record["$id"] as? String else { continue }
      let attributes = (texts[entity] ?? []).filter { record[$0] is String }
      if let attribute = attributes.min() { return (entity, id, attribute) }
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
    let texts = texts(in: try #require(shown as? [String: Any]))
    guard let place = place(in: try dump.jsonLines(), texts) else { return }
    let arguments = [
      "edit", "bare/store.sqlite", "--entity", place.entity, "--id", place.id, "--set", "\(place.attribute)=edited",
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
