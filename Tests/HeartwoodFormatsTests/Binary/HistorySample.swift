import Foundation
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore
import Testing

@testable import HeartwoodFormats

/// What `Formats/Binary/samples/version-2.heartwood` holds. It must not change: the file does not.
enum HistorySample {
  static let identifier = UUID(sample: 0xFE)

  static func model() throws -> ManagedObjectModel {
    func preserved(_ name: String, _ type: AttributeType) -> PropertyDescription {
      .attribute(
        AttributeDescription(name: name, type: type, isOptional: true, preservesValueInHistoryOnDeletion: true)
      )
    }
    let everything = AttributeType.allCases.map { preserved($0.rawValue, $0) }
    return try ManagedObjectModel(
      entities: [
        EntityDefinition(name: "Everything", properties: everything),
        .entity("ToDo", preserved("title", .string), .attribute("done", .boolean, optional: true)),
        .entity("Chore", parent: "ToDo"),
      ]
    )
  }

  static func store() throws -> SampleStore { try SampleStore(model()) }

  /// Two records, and five transactions of which the first two were purged, in two pages.
  static func contents() throws -> StoreContents {
    let store = try store()
    let toDo = try #require(store.model.entity(named: "ToDo"))
    var contents = try store.contents(identifier) { loader in
      for number in 1...2 as ClosedRange<UInt8> {
        try loader.addNode(.uuid(UUID(sample: number)), to: toDo) { node in
          try node.setValue(.string("To do \(number)"), forKey: "title")
        }
      }
    }
    contents.history = try StoreHistory(
      purgedNumber: 2,
      pages: [
        page(insertions(), update()), page(deletions()),
      ]
    )
    return contents
  }

  private static func page(_ transactions: ByteSlice...) throws -> HistoryPage {
    try HistoryPage(bytes: transactions.flatMap { Array($0.unsafeBytes) }, transactionCount: transactions.count)
  }

  private static func encoder(_ seconds: Double, _ author: String?, _ context: String?) -> HistoryTransactionEncoder {
    HistoryTransactionEncoder(
      date: Date(timeIntervalSinceReferenceDate: seconds),
      origin: SaveOrigin(author: author, contextName: context)
    )
  }

  private static func insertions() throws -> ByteSlice {
    let encoder = encoder(700_000_000, nil, nil)
    let uuids = (1...3).map { ReferenceID.uuid(UUID(sample: $0)) }
    encoder.append(.insert, entity: "ToDo", references: uuids)
    encoder.append(.insert, entity: "Chore", references: [.integer(-1), .integer(.max)])
    encoder.append(.insert, entity: "Everything", references: [.string("é"), .string("42"), .string("")])
    return try #require(encoder.sealed())
  }

  private static func update() throws -> ByteSlice {
    let encoder = encoder(700_000_000.25, "Ärzte \"app\"", "main")
    encoder.append(.update, entity: "ToDo", properties: ["title", "done"], references: [.uuid(UUID(sample: 2))])
    let mixed: [ReferenceID] = [.integer(-1), .uuid(UUID(sample: 7)), .string("seven")]
    encoder.append(.update, entity: "Chore", properties: [], references: mixed)
    return try #require(encoder.sealed())
  }

  private static func deletions() throws -> ByteSlice {
    let encoder = encoder(-1, "app", nil)
    let values = try [edges(), AttributeType.allCases.map { _ in .null }, others()]
    encoder.append(
      .delete,
      entity: "Everything",
      properties: AttributeType.allCases.map(\.rawValue),
      references: [.string("é"), .string("42"), .string("")]
    ) { values[$0] }
    encoder.append(.delete, entity: "Chore", references: [.integer(.max)])
    encoder.append(.delete, entity: "ToDo", properties: ["title"], references: [.uuid(UUID(sample: 3))]) { _ in
      [.string("gone\n")]
    }
    return try #require(encoder.sealed())
  }

  private static func edges() throws -> [PropertyValue] {
    try AttributeType.allCases.map { type in
      switch type {
      case .integer16: .integer(-32_768)
      case .integer32: .integer(2_147_483_647)
      case .integer64: .integer(.min)
      case .decimal: .decimal(Decimal(sign: .minus, exponent: -3, significand: 12_345))
      case .double: .double(0.1)
      case .float: .float(0.1)
      case .string: .string("Grüße, \"世界\"\n👋")
      case .boolean: .boolean(true)
      case .date: .date(Date(timeIntervalSinceReferenceDate: 495_828_900.5))
      case .binary: .binary(Data([0, 255, 16]))
      case .uuid: .uuid(UUID(sample: 0))
      case .uri: .uri(try #require(URL(string: "https://example.org/a%20b?q=1")))
      case .transformable, .undefined: .binary(Data([1]))
      }
    }
  }

  private static func others() throws -> [PropertyValue] {
    try AttributeType.allCases.map { type in
      switch type {
      case .integer16, .integer32, .integer64: .integer(0)
      case .decimal: .decimal(.nan)
      case .double: .double(.infinity)
      case .float: .float(-.infinity)
      case .string: .string("")
      case .boolean: .boolean(false)
      case .date: .date(Date(timeIntervalSinceReferenceDate: 1e12))
      case .binary, .transformable, .undefined: .binary(Data())
      case .uuid: .uuid(UUID(sample: 255))
      case .uri: .uri(try #require(URL(string: "mailto:a@example.org")))
      }
    }
  }
}

extension StoreContents {
  /// The transactions of the history.
  func transactions(
    _ request: PersistentHistoryChangeRequest = .fetchHistory(after: nil)
  ) throws -> [PersistentHistoryTransaction] {
    let history = try #require(history)
    return try HistoryReader(history, storeID: metadata.identifier, scopes: scopes, path: nil).transactions(request)
  }

  /// The transactions as lines of JSON.
  func historyLines() throws -> [UInt8] {
    let output = GrowableBytes()
    for transaction in try transactions() { HistoryJSON.append(transaction, to: output) }
    return Array(output.unsafeMutableBytes)
  }
}
