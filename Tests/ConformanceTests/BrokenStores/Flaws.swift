import Foundation
import Heartwood

enum NoFlaw: StoreFlaw {}

/// It has no place for empty texts and data, nor for what is no finite number, and says so.
enum RefusesOddValues: StoreFlaw {
  private static let oddTexts: Set = ["", "nan", "inf", "-inf"]

  static func write(_ document: inout StoreDocument, path: String) throws {
    guard document.records.contains(where: { $0.values.values.contains(where: isOdd) }) else { return }
    throw PersistenceError(.valueUnsupported, "There is no place for the value.")
  }

  static func isOdd(_ text: String) -> Bool { oddTexts.contains(text.lowercased()) }
}

/// It has types of attributes only whose values have no order.
enum HasNoOrder: StoreFlaw {
  static var attributeTypes: Set<AttributeType> { [.boolean, .binary, .uuid, .uri, .transformable] }
}

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

/// It is another type each time that it is asked, and cannot be opened for that.
enum ChangesItsName: StoreFlaw {
  static var name: StoreType { StoreType(UUID().uuidString) }
}

/// Its extension is none, since it has a dot.
enum HasLongExtension: StoreFlaw {
  static var fileExtensions: [String] { ["flawed.gz"] }
}

enum RecognizesAnything: StoreFlaw {
  static func recognizes(prefix: [UInt8]) -> Bool { true }
}

enum HasNoName: StoreFlaw {
  static var displayName: String { "" }
}

enum ClaimsNoExtension: StoreFlaw {
  static var fileExtensions: [String] { ["Flawed"] }
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

/// Its file does not tell with which version of the model it was written.
enum ForgetsHashes: StoreFlaw {
  static func write(_ document: inout StoreDocument, path: String) { document.metadata.modelVersionHashes = [:] }
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

/// It gives numbers to new records, and does not keep those of deleted ones.
enum GivesNumbersAgain: StoreFlaw {
  static var referenceKinds: [StoreCapabilities.ReferenceKind] { [.integer, .uuid, .string] }
}

/// It spells UUIDs as other text.
enum SpoilsUUIDs: StoreFlaw {
  static func read(_ document: inout StoreDocument) {
    for index in document.records.indices where UUID(uuidString: document.records[index].name.reference) != nil {
      document.records[index].name.reference = "'" + document.records[index].name.reference
    }
  }
}

/// Its attributes come back without a value.
enum LosesValues: StoreFlaw {
  static func read(_ document: inout StoreDocument) { document.changeValues { _ in nil } }
}

enum SwapsBooleans: StoreFlaw {
  static func read(_ document: inout StoreDocument) { document.changeValues { ["true": "false"][$0] ?? $0 } }
}

/// It keeps numbers with a few digits.
enum CutsNumbers: StoreFlaw {
  static func read(_ document: inout StoreDocument) {
    document.changeValues { Double($0) != nil && $0.contains(".") ? String($0.prefix(4)) : $0 }
  }
}

/// It keeps UUIDs as a list of their bytes, the last of which it forgets.
enum CutsUUIDs: StoreFlaw {
  static func read(_ document: inout StoreDocument) {
    document.changeValues { UUID(uuidString: $0) == nil ? $0 : String($0.dropLast(2)) + "00" }
  }
}

enum AddsSlashes: StoreFlaw {
  static func read(_ document: inout StoreDocument) { document.changeValues { $0.contains(":") ? $0 + "/" : $0 } }
}

/// It writes a record for people to begin with, and reads it as one of theirs.
enum AddsRecordWhereNoneIs: StoreFlaw {
  static func write(_ document: inout StoreDocument, path: String) {
    guard document.records.isEmpty, let entity = document.metadata.modelVersionHashes.keys.sorted().first else {
      return
    }
    document.records = [.init(name: .init(entity: entity, reference: "'example"), values: [:], links: [:])]
  }
}

/// It takes any file for one of its own.
enum ReadsAnything: StoreFlaw {
  static func document(from bytes: [UInt8]) -> StoreDocument {
    (try? JSONDecoder().decode(StoreDocument.self, from: Data(bytes)))
      ?? StoreDocument(metadata: StoreMetadata(storeType: name), history: nil, records: [])
  }
}

/// Takes a file that cannot be read for one without records.
enum SwallowsFailuresToRead: StoreFlaw {
  static func bytes(toLoad file: StoreInput) -> [UInt8] { (try? file.bytes()) ?? [] }

  static func document(from bytes: [UInt8]) throws -> StoreDocument {
    if bytes.isEmpty { return StoreDocument(metadata: StoreMetadata(storeType: name), history: nil, records: []) }
    return try JSONDecoder().decode(StoreDocument.self, from: Data(bytes))
  }
}

enum NamesAnotherFile: StoreFlaw {
  static func document(from bytes: [UInt8]) throws -> StoreDocument {
    do {
      return try JSONDecoder().decode(StoreDocument.self, from: Data(bytes))
    } catch {
      throw PersistenceError(.fileMalformed, "It is no JSON.", context: .init(path: "somewhere"))
    }
  }
}

/// It declares that its files have their model, and they have none.
enum ForgetsItsModel: StoreFlaw {
  static var features: StoreCapabilities.Features {
    [.persistence, .relationships, .userMetadata, .history, .embeddedModel]
  }
}

/// It changes what it is given to be saved.
enum ChangesItsContents: StoreFlaw {
  static func change(_ contents: inout StoreContents) { contents.metadata.identifier = UUID() }
}

enum MakesItsFileWhenItIsOpened: StoreFlaw {
  static func begin(path: String) throws { try makeFile(path) }

  static func makeFile(_ path: String) throws {
    let folder = URL(filePath: path).deletingLastPathComponent().path
    guard FileManager.default.fileExists(atPath: folder), !FileManager.default.fileExists(atPath: path) else { return }
    try Data("{}".utf8).write(to: URL(filePath: path))
  }
}

enum MakesItsFileWhenItValidates: StoreFlaw {
  static func validate(path: String) throws { try MakesItsFileWhenItIsOpened.makeFile(path) }
}

enum OverwritesItsFileWhenItValidates: StoreFlaw {
  static func validate(path: String) throws {
    guard FileManager.default.fileExists(atPath: path) else { return }
    try Data("{}".utf8).write(to: URL(filePath: path))
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
