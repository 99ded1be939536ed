import Foundation
import Heartwood

enum NoFlaw: StoreFlaw {}

enum DropsLastRecord: StoreFlaw {
  static func write(_ document: inout StoreDocument, path: String) { _ = document.records.popLast() }
}

enum LosesEmptyStrings: StoreFlaw {
  static func read(_ document: inout StoreDocument) {
    document.changeValues { $0.isEmpty ? nil : $0 }
  }
}

enum RoundsDates: StoreFlaw {
  static func read(_ document: inout StoreDocument) {
    document.changeValues { text in Double(text).map { $0.isFinite ? "\($0.rounded())" : text } ?? text }
  }
}

enum TruncatesIntegers: StoreFlaw {
  static func read(_ document: inout StoreDocument) {
    document.changeValues { text in Int64(text).map { "\(Int32(truncatingIfNeeded: $0))" } ?? text }
  }
}

enum WritesInPlace: StoreFlaw {
  static func write(_ document: inout StoreDocument, path: String) throws {
    guard FileManager.default.fileExists(atPath: path) else { return }
    let bytes = try document.encoded()
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: bytes)
    try file.close()
  }
}

enum MakesNewIdentifier: StoreFlaw {
  static func read(_ document: inout StoreDocument) { document.metadata.identifier = UUID() }
}

enum ForgetsUserInfo: StoreFlaw {
  static func write(_ document: inout StoreDocument, path: String) { document.metadata.userInfo = [:] }
}

enum SortsRecords: StoreFlaw {
  static func write(_ document: inout StoreDocument, path: String) {
    document.records.sort { $0.name.reference < $1.name.reference }
  }
}

enum ReadsNumbersFromStrings: StoreFlaw {
  static func read(_ document: inout StoreDocument) {
    for index in document.records.indices where document.records[index].name.reference.hasPrefix("'") {
      document.records[index].name.reference.removeFirst()
    }
  }
}

enum SortsLinks: StoreFlaw {
  static func write(_ document: inout StoreDocument, path: String) {
    document.changeLinks { $0.sorted { $0.reference < $1.reference } }
  }
}

enum LosesLinks: StoreFlaw {
  static func write(_ document: inout StoreDocument, path: String) { document.changeLinks { _ in [] } }
}

enum WritesAtRandom: StoreFlaw {
  static func write(_ document: inout StoreDocument, path: String) { document.noise = UUID().uuidString }
}

enum LeavesFilesBehind: StoreFlaw {
  static func write(_ document: inout StoreDocument, path: String) throws {
    let folder = URL(filePath: path).deletingLastPathComponent().path
    guard FileManager.default.fileExists(atPath: folder) else { return }
    try Data().write(to: URL(filePath: path + ".bak"))
  }
}

enum ForgetsHistory: StoreFlaw {
  static func write(_ document: inout StoreDocument, path: String) { document.history = nil }
}

enum LosesNewestPage: StoreFlaw {
  static func read(_ document: inout StoreDocument) {
    guard document.history?.pages.count ?? 0 > 1 else { return }
    document.history?.pages.removeLast()
  }
}

enum NumbersFromOne: StoreFlaw {
  static func read(_ document: inout StoreDocument) { document.history?.purgedNumber = 0 }
}

/// It declares binary attributes and cannot hold them.
enum LacksWithoutSaying: StoreFlaw {
  static func read(_ document: inout StoreDocument) {
    document.changeValues { text in Data(base64Encoded: text)?.isEmpty == false ? nil : text }
  }
}

/// It is another type each time that it is asked.
enum ChangesItsName: StoreFlaw {
  static var name: StoreType { StoreType(UUID().uuidString) }
}

enum HasNoName: StoreFlaw {
  static var displayName: String { "" }
}

enum ClaimsNoExtension: StoreFlaw {
  static var fileExtensions: [String] { ["Flawed"] }
}

enum NeverOpens: StoreFlaw {
  static func begin() throws { throw CocoaError(.fileReadUnknown) }
}

enum TellsAnotherType: StoreFlaw {
  static func read(_ document: inout StoreDocument) { document.metadata.storeType = "Other" }
}

enum HasOneIdentifier: StoreFlaw {
  static let identifier = UUID()
  static func write(_ document: inout StoreDocument, path: String) { document.metadata.identifier = identifier }
}

enum WritesWrongHashes: StoreFlaw {
  static func write(_ document: inout StoreDocument, path: String) {
    document.metadata.modelVersionHashes = document.metadata.modelVersionHashes.mapValues { _ in Data([1]) }
  }
}

enum KeepsFirstEntityOnly: StoreFlaw {
  static func write(_ document: inout StoreDocument, path: String) {
    let first = document.records.first?.name.entity
    document.records.removeAll { $0.name.entity != first }
  }
}

enum KeepsThousandRecords: StoreFlaw {
  static func write(_ document: inout StoreDocument, path: String) {
    document.records = Array(document.records.prefix(1_000))
  }
}

enum LosesZeros: StoreFlaw {
  static func read(_ document: inout StoreDocument) { document.changeValues { Double($0) == 0 ? nil : $0 } }
}

enum LosesManyLinks: StoreFlaw {
  static func write(_ document: inout StoreDocument, path: String) { document.changeLinks { Array($0.prefix(1)) } }
}

enum RenamesRecords: StoreFlaw {
  static func read(_ document: inout StoreDocument) {
    for index in document.records.indices where Int64(document.records[index].name.reference) != nil {
      document.records[index].name.reference += "0"
    }
  }
}

/// It spells UUIDs as other text.
enum SpoilsUUIDs: StoreFlaw {
  static func read(_ document: inout StoreDocument) {
    for index in document.records.indices where UUID(uuidString: document.records[index].name.reference) != nil {
      document.records[index].name.reference = "'" + document.records[index].name.reference
    }
  }
}

extension StoreDocument {
  fileprivate mutating func changeValues(_ change: (String) -> String?) {
    for index in records.indices { records[index].values = records[index].values.compactMapValues(change) }
  }

  fileprivate mutating func changeLinks(_ change: ([Name]) -> [Name]) {
    for index in records.indices { records[index].links = records[index].links.mapValues(change) }
  }
}
