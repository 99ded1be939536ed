import CZlib
import Foundation
import GRDB
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

@Suite("Models in SQLite files") struct SQLiteModelCacheTests {
  private let queue: DatabaseQueue

  init() throws {
    queue = try DatabaseQueue()
    try queue.write { try $0.execute(sql: "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)") }
  }

  private func model() throws -> ManagedObjectModel? {
    try queue.read { try SQLiteModelCache.model(in: $0, path: "Store.sqlite") }
  }

  private func put(_ content: Data) throws {
    try queue.write { try $0.execute(sql: "INSERT INTO Z_MODELCACHE VALUES (?)", arguments: [content]) }
  }

  /// DEFLATE data without a header.
  private static func deflated(_ bytes: [UInt8]) throws -> Data {
    var length = compressBound(uLong(bytes.count))
    var target = [UInt8](repeating: 0, count: Int(length))
    try #require(compress(&target, &length, bytes, uLong(bytes.count)) == Z_OK)
    // The header of zlib takes 2 bytes, its checksum 4.
    return Data(target[2..<(Int(length) - 4)])
  }

  /// The archive of a model with an entity `User` that has a name.
  private static let archive = """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict><key>$archiver</key><string>NSKeyedArchiver</string><key>$objects</key><array>
    <string>$null</string>
    <dict><key>$class</key><dict><key>CF$UID</key><integer>2</integer></dict>
    <key>NSEntities</key><dict><key>CF$UID</key><integer>3</integer></dict></dict>
    <dict><key>$classname</key><string>NSManagedObjectModel</string></dict>
    <dict><key>NS.keys</key><array><dict><key>CF$UID</key><integer>4</integer></dict></array>
    <key>NS.objects</key><array><dict><key>CF$UID</key><integer>5</integer></dict></array></dict>
    <string>User</string>
    <dict><key>NSProperties</key><dict><key>CF$UID</key><integer>6</integer></dict></dict>
    <dict><key>NS.keys</key><array><dict><key>CF$UID</key><integer>7</integer></dict></array>
    <key>NS.objects</key><array><dict><key>CF$UID</key><integer>8</integer></dict></array></dict>
    <string>name</string>
    <dict><key>$class</key><dict><key>CF$UID</key><integer>9</integer></dict>
    <key>NSAttributeType</key><integer>700</integer><key>NSIsOptional</key><true/></dict>
    <dict><key>$classname</key><string>NSAttributeDescription</string></dict>
    </array><key>$top</key><dict><key>root</key><dict><key>CF$UID</key><integer>1</integer></dict></dict></dict></plist>
    """

  @Test("A model is expanded and read")
  func reading() throws {
    #expect(try model() == nil)
    try put(Self.deflated(Array(Self.archive.utf8)))
    let model = try #require(try model())
    #expect(model.entities.map(\.name) == ["User"])
    #expect(model.entity(named: "User")?.property(named: "name")?.attribute?.type == .string)
  }

  @Test("A file without the table, or with an empty one, has no model")
  func absent() throws {
    try put(Data())
    #expect(try model() == nil)
    try queue.write { try $0.execute(sql: "DROP TABLE Z_MODELCACHE") }
    #expect(try model() == nil)
  }

  @Test("What is no model is said to be none, and why")
  func malformed() throws {
    let whole = try Self.deflated(Array(Self.archive.utf8))
    let cases: [(content: Data, word: String)] = [
      (whole.dropLast(20), "cut short"), (Data([0xFF, 0xFF, 1, 2]), "changed"),
      (try Self.deflated(Array("bplist00".utf8)), "not a model"),
      (try Self.deflated(Array("text".utf8)), "not a model"),
      (try Self.deflated([UInt8](repeating: 0, count: 65 << 20)), "expands to more than"),
    ]
    for (content, word) in cases {
      let error = try #require(throws: PersistenceError.self) {
        try SQLiteModelCache.model(Array(content), path: "Store.sqlite")
      }
      #expect(error.code == .fileMalformed)
      #expect(error.message.contains(word), "\(error.message)")
      #expect(error.context.path == "Store.sqlite")
    }
  }

  @Test("A model that is too long is not even read")
  func tooLong() throws {
    try queue.write { try $0.execute(sql: "INSERT INTO Z_MODELCACHE VALUES (zeroblob(17 * 1024 * 1024))") }
    #expect(try #require(throws: PersistenceError.self) { try model() }.code == .fileMalformed)
  }
}
