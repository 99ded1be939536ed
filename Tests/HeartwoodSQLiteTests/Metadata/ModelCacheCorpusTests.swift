import Foundation
import GRDB
import HeartwoodModel
import HeartwoodTesting
import Testing

@_spi(CoreDataFiles) @testable import HeartwoodFormats
@testable import HeartwoodModelFiles
@testable import HeartwoodSQLite

/// Archives of models that Core Data made, held against those that are made of the same models here: object by object, key by key.
@Suite(
  "Models in files that Core Data made, written again",
  .enabled(if: SQLiteCorpus.folder != nil, "set HEARTWOOD_CORPUS to the folder of the corpus")
)
struct ModelCacheCorpusTests {
  /// Models with something that is not read out of an archive, and so cannot be written again.
  private static let unread: [String: String] = [
    "SampleModel2_V1.sqlite":
      "validation predicates, the order of a fetched property, a default value of a class of the application's"
  ]

  @Test(
    "What is written is what Core Data wrote",
    arguments: SQLiteCorpus.stores.filter { $0.modelcache && unread[$0.name] == nil }
  )
  func comparison(_ store: SQLiteCorpus.Store) throws {
    let theirs = try RawInflation.expand(try content(of: store), limit: 1 << 24)
    let ours = try CompiledModelWriter.bytes(of: try ManagedObjectModel(compiled: theirs, path: store.name))
    var comparison = ArchiveComparison()
    comparison.compare(try KeyedArchive(theirs).root, try KeyedArchive(ours).root, "model")
    #expect(comparison.differences.isEmpty, "\(comparison.differences.prefix(10))")
    #expect(comparison.compared > 10)
  }

  @Test("What is put into a file is expanded as it was, and takes little more room than Core Data's")
  func size() throws {
    for store in SQLiteCorpus.stores where store.modelcache {
      let theirs = try content(of: store)
      let archive = try RawInflation.expand(theirs, limit: 1 << 24)
      let ours = try #require(RawDeflation.compress(archive))
      #expect(try RawInflation.expand(ours, limit: archive.count) == archive)
      #expect(ours.count < theirs.count * 11 / 10, "\(store.name)")
    }
  }

  /// The archive as it is in the file, compressed.
  private func content(of store: SQLiteCorpus.Store) throws -> [UInt8] {
    let scratch = try ScratchFolder()
    let path = try SQLiteCorpus.copy(store, to: scratch)
    let content = try SQLiteFile.inspect(atPath: path) { db in
      try Data.fetchOne(db, sql: "SELECT Z_CONTENT FROM Z_MODELCACHE")
    }
    return Array(try #require(content))
  }
}

/// Two archives, held against each other from an object on.
private struct ArchiveComparison {
  private(set) var differences: [String] = []
  private(set) var compared = 0
  private var seen: Set<[Int]> = []

  /// Marks that say once more what fetch indexes say. Core Data makes a second index of them when it reads them.
  private static let ignored: Set<String> = ["NSIsIndexed"]
  /// Classes that come and go with the one beside them.
  private static let kin: [String: String] = [
    "NSMutableArray": "NSArray", "NSMutableSet": "NSSet", "NSMutableDictionary": "NSDictionary",
  ]

  mutating func compare(_ left: ArchiveNode?, _ right: ArchiveNode?, _ path: String) {
    // Where there is nothing, some frameworks write an empty collection, and some do not.
    guard let left = left?.filled, let right = right?.filled else {
      if (left?.filled == nil) != (right?.filled == nil) { differences.append("\(path): one of them is nothing") }
      return
    }
    if let one = left.number, let other = right.number, !seen.insert([one, other]).inserted { return }
    compared += 1
    // A text may be an object of a class for texts.
    if left.string != nil || right.string != nil {
      note(left.string, right.string, path)
    } else if left.className != nil || right.className != nil {
      compareObjects(left, right, path)
    } else if left.integer != nil || right.integer != nil {
      // A Boolean may be a number.
      note(left.integer, right.integer, path)
    } else {
      note("\(left.value)", "\(right.value)", path)
    }
  }

  private func isIndexed(_ entity: ArchiveNode) -> Bool {
    entity["NSProperties"]?.members.contains { $0.value["NSIsIndexed"]?.isTrue == true } ?? false
  }

  private mutating func compareObjects(_ left: ArchiveNode, _ right: ArchiveNode, _ path: String) {
    let (one, other) = (left.className ?? "", right.className ?? "")
    // What older frameworks write for an inherited property.
    if one == "_NSPropertyDescriptionProxy" { return }
    note(Self.kin[one] ?? one, Self.kin[other] ?? other, path)
    if one.hasSuffix("Set") {
      compareSets(left, right, path)
    } else if one.contains("Dictionary") {
      compareMembers(left.members, right.members, path)
    } else if one.hasSuffix("Array") {
      note(left.items.count, right.items.count, path + ".count")
      for (index, pair) in zip(left.items, right.items).enumerated() { compare(pair.0, pair.1, "\(path)[\(index)]") }
    } else {
      for key in Set(left.keys + right.keys).subtracting(Self.ignored).sorted() {
        // Frameworks from before there were fetch indexes.
        if key == "NSFetchIndexDescriptions", left[key] == nil, left["NSCompoundIndexes"] != nil || isIndexed(left) {
          continue
        }
        compare(left[key], right[key], "\(path).\(key)")
      }
    }
  }

  private mutating func compareMembers(
    _ left: [(key: String, value: ArchiveNode)],
    _ right: [(key: String, value: ArchiveNode)],
    _ path: String
  ) {
    let (left, right) = (left.sorted { $0.key < $1.key }, right.sorted { $0.key < $1.key })
    note(left.map(\.key), right.map(\.key), path)
    for (one, other) in zip(left, right) where one.key == other.key {
      compare(one.value, other.value, "\(path).\(one.key)")
    }
  }

  /// Sets of texts, or of entities.
  private mutating func compareSets(_ left: ArchiveNode, _ right: ArchiveNode, _ path: String) {
    let names = [left, right].map { set in set.items.map { $0.string ?? $0["NSEntityName"]?.string ?? "?" }.sorted() }
    note(names[0].filter { !$0.isEmpty }, names[1].filter { !$0.isEmpty }, path)
  }

  private mutating func note<Value: Equatable>(_ left: Value, _ right: Value, _ path: String) {
    if left != right { differences.append("\(path): \(left) there, \(right) here") }
  }
}

extension ArchiveNode {
  /// The keys of what is in the object.
  fileprivate var keys: [String] {
    guard case .dictionary(let members) = value else { return [] }
    return members.keys.filter { $0 != "$class" }
  }

  /// The object, unless it is a collection without members.
  fileprivate var filled: ArchiveNode? {
    guard let name = className, name.hasSuffix("Array") || name.hasSuffix("Dictionary") else { return self }
    return items.isEmpty && members.isEmpty ? nil : self
  }
}
