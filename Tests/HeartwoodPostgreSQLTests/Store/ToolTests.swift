import Foundation
import Heartwood
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodPostgreSQL

/// The tool, with URLs where it takes files.
@Suite(.needsServer) struct ToolTests {
  private struct Outcome {
    let status: Int32
    let output: String
    let errors: String
  }

  private let folder = FileManager.default.temporaryDirectory.appending(path: "heartwood-\(UUID().uuidString)")
  private let url: String

  init() throws {
    url = try TestServer.shared.get().url(schema: TestServer.newSchema())
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for name in ["todo.csv", "ToDo.xcdatamodeld"] {
      // What a link leads to, and not the link.
      let original = Self.example(name).resolvingSymlinksInPath()
      try FileManager.default.copyItem(at: original, to: folder.appending(path: name))
    }
  }

  private static func example(_ name: String) -> URL {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    return root.appending(path: "Examples/ToDo/\(name)")
  }

  private func heartwood(_ arguments: String...) throws -> Outcome { try heartwood(arguments) }

  private func heartwood(_ arguments: [String]) throws -> Outcome {
    let files = ["out", "err"].map { folder.appending(path: "\(UUID().uuidString).\($0)") }
    for file in files { try Data().write(to: file) }
    let process = Process()
    process.executableURL = try BuiltExecutable.url(named: "heartwood")
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: files[0])
    process.standardError = try FileHandle(forWritingTo: files[1])
    try process.run()
    process.waitUntilExit()
    let texts = try files.map { try String(contentsOf: $0, encoding: .utf8) }
    return Outcome(status: process.terminationStatus, output: texts[0], errors: texts[1])
  }

  private func removeFolder() throws { try FileManager.default.removeItem(at: folder) }

  @Test func aFileIsConvertedToADatabaseAndBack() throws {
    let there = try heartwood("convert", "todo.csv", url, "--verify")
    #expect(there.status == 0, "\(there.errors)")
    #expect(there.output.contains("verified"))
    let again = try heartwood("convert", "todo.csv", url)
    #expect(again.status == 1 && again.errors.contains("already"), "\(again.errors)")
    let replaced = try heartwood("convert", "todo.csv", url, "--verify", "--force")
    #expect(replaced.status == 0, "\(replaced.errors)")
    let back = try heartwood("convert", url, "back.csv", "--verify")
    #expect(back.status == 0, "\(back.errors)")
    let (first, last) = (try heartwood("dump", "todo.csv"), try heartwood("dump", "back.csv"))
    #expect(!first.output.isEmpty)
    #expect(first.output.split(separator: "\n").sorted() == last.output.split(separator: "\n").sorted())
    try removeFolder()
  }

  @Test func aDatabaseIsLookedInto() throws {
    #expect(try heartwood("convert", "todo.csv", url).status == 0)
    let info = try heartwood("info", url)
    #expect(info.status == 0 && info.output.contains("PostgreSQL"), "\(info.errors)")
    let found = try heartwood("fetch", url, "ToDo", "--where", "done == NO", "--explain")
    #expect(found.status == 0 && !found.output.isEmpty, "\(found.errors)")
    for command in ["verify", "dump"] {
      let outcome = try heartwood(command, url)
      #expect(outcome.status == 0, "\(command): \(outcome.errors)")
    }
    let differences = try heartwood("diff", "todo.csv", url)
    #expect(differences.status == 0, "\(differences.output)\(differences.errors)")
    try removeFolder()
  }

  @Test func damageIsReported() throws {
    let bench = try StoreBench()
    let context = try bench.context()
    let list = try bench.insert("List", ["name": "Home"], in: context)
    try bench.insert("Item", ["title": "Tea", "list": list], in: context)
    try context.save()
    let url = bench.server.url(schema: bench.schema)
    #expect(try heartwood("verify", url).status == 0)
    let other = try bench.otherClient()
    try other.execute("ALTER TABLE item DROP CONSTRAINT item_list_id_fkey; DELETE FROM list")
    let outcome = try heartwood("verify", url)
    #expect(outcome.status == 1)
    for text in [
      "has no foreign key to the table list", "ADD FOREIGN KEY", "list refers to List", "which does not exist",
    ] {
      #expect(outcome.errors.contains(text), "\(text): \(outcome.errors)")
    }
    try other.execute("ALTER TABLE item DROP COLUMN title")
    let broken = try heartwood("verify", url)
    #expect(broken.status == 1 && broken.errors.contains("The table item has no column title"), "\(broken.errors)")
    try removeFolder()
  }

  @Test func aDatabaseIsEditedAndMigrated() throws {
    #expect(try heartwood("convert", "todo.csv", url).status == 0)
    let refused = try heartwood("edit", url, "--where", "done == NO", "--set", "done=true")
    #expect(refused.status == 1 && refused.errors.contains("--no-backup"), "\(refused.errors)")
    let edited = try heartwood("edit", url, "--where", "done == NO", "--set", "done=true", "--no-backup")
    #expect(edited.status == 0, "\(edited.errors)")
    let left = try heartwood("fetch", url, "ToDo", "--where", "done == NO")
    #expect(left.status == 0 && left.output.isEmpty, "\(left.output)\(left.errors)")
    let migrated = try heartwood("migrate", url, "--to-model", "ToDo.xcdatamodeld")
    #expect(migrated.status == 0, "\(migrated.output)\(migrated.errors)")
    try removeFolder()
  }

  @Test func theHistoryOfADatabaseIsReadAndPurged() throws {
    let bench = try StoreBench()
    var options = StoreOptions()
    options[.tracksPersistentHistory] = true
    let context = try bench.context(options)
    context.transactionAuthor = "ann"
    try bench.insert("Item", ["title": "Tea"], in: context)
    try context.save()
    let url = bench.server.url(schema: bench.schema)
    let history = try heartwood("history", url, "--format", "json")
    #expect(history.status == 0 && history.output.contains("\"author\":\"ann\""), "\(history.output)\(history.errors)")
    let edited = try heartwood(
      "edit",
      url,
      "--entity",
      "Item",
      "--where",
      "title == 'Tea'",
      "--set",
      "count=1",
      "--no-backup"
    )
    #expect(edited.status == 0, "\(edited.errors)")
    let after = try heartwood("history", url, "--after", "1", "--format", "json")
    #expect(after.output.contains("\"count\"") && !after.output.contains("ann"), "\(after.output)\(after.errors)")
    let purged = try heartwood("history", url, "--purge-before", "2200-01-01")
    #expect(purged.status == 0 && purged.output.contains("2"), "\(purged.output)\(purged.errors)")
    #expect(try bench.otherClient().execute("SELECT 1 FROM heartwood_change").rowCount == 0)
    try removeFolder()
  }

  /// The model of the article.
  private static let shopModel = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Customer">
        <attribute name="name" attributeType="String" optional="YES"/>
        <relationship name="orders" optional="YES" toMany="YES" destinationEntity="Order" inverseName="customer" inverseEntity="Order"/>
        <userInfo>
          <entry key="postgresName" value="customers"/>
          <entry key="postgresKey" value="customer_no"/>
        </userInfo>
      </entity>
      <entity name="Order">
        <attribute name="total" attributeType="Decimal" optional="YES">
          <userInfo>
            <entry key="postgresName" value="sum_total"/>
          </userInfo>
        </attribute>
        <relationship name="customer" optional="YES" maxCount="1" destinationEntity="Customer" inverseName="orders" inverseEntity="Customer">
          <userInfo>
            <entry key="postgresName" value="customer_no"/>
          </userInfo>
        </relationship>
        <userInfo>
          <entry key="postgresName" value="orders"/>
        </userInfo>
      </entity>
    </model>
    """

  @Test func tablesOfAnotherProgramAreLookedInto() throws {
    let bench = try StoreBench()
    try bench.otherClient().execute(
      """
      CREATE SCHEMA \(bench.schema); CREATE TABLE customers (customer_no int PRIMARY KEY, name varchar(40));
      CREATE TABLE orders (id bigint PRIMARY KEY, sum_total numeric(10, 2), customer_no int REFERENCES customers);
      INSERT INTO customers VALUES (1, 'Ann'), (2, 'Ben');
      INSERT INTO orders VALUES (10, 1.5, 1), (11, 20, 1), (12, NULL, NULL)
      """
    )
    let model = folder.appending(path: "Shop.xcdatamodel")
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: false)
    try Data(Self.shopModel.utf8).write(to: model.appending(path: "contents"))
    let url = bench.server.url(schema: bench.schema)
    let arguments = ["--model", "Shop.xcdatamodel"]
    for command in ["info", "dump", "verify"] {
      let outcome = try heartwood([command, url] + arguments)
      #expect(outcome.status == 0, "\(command): \(outcome.errors)")
    }
    let found = try heartwood(
      ["fetch", url, "Order", "--where", "customer.name == 'Ann' AND total > 10", "--explain"] + arguments
    )
    #expect(found.status == 0 && found.output.contains("SELECT"), "\(found.output)\(found.errors)")
    let rows = try heartwood(["fetch", url, "Order", "--where", "customer.name == 'Ann' AND total > 10"] + arguments)
    #expect(rows.output.contains("20"), "\(rows.output)\(rows.errors)")
    let converted = try heartwood(["convert", url, "shop.heartwood", "--verify"] + arguments)
    #expect(converted.status == 0 && converted.output.contains("verified"), "\(converted.output)\(converted.errors)")
    let store = bench.server.url(schema: TestServer.newSchema())
    let copied = try heartwood(["convert", url, store, "--verify"] + arguments)
    #expect(copied.status == 0, "\(copied.output)\(copied.errors)")
    #expect(try heartwood("verify", store).status == 0)
    let edited = try heartwood(
      ["edit", url, "--entity", "Order", "--where", "total > 10", "--set", "total=1", "--no-backup"] + arguments
    )
    #expect(edited.status == 1 && edited.errors.contains("another program"), "\(edited.errors)")
    let written = try heartwood(["convert", "shop.heartwood", url, "--force"] + arguments)
    #expect(written.status == 1 && written.errors.contains("another program"), "\(written.output)\(written.errors)")
    let without = try heartwood("info", url)
    #expect(without.status == 1 && without.errors.contains("There is no store"), "\(without.errors)")
    try removeFolder()
  }

  @Test func whatIsNotThereIsSaid() throws {
    let outcome = try heartwood("info", url)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("There is no store"), "\(outcome.errors)")
    try removeFolder()
  }
}
