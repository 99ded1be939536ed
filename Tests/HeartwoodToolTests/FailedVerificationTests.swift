import Foundation
import Heartwood
import HeartwoodSQLite
import Testing

@testable import HeartwoodTool

/// `convert --verify` to stores that do not keep what they are given, which none does that ships: so it is run in this process.
@Suite struct FailedVerificationTests {
  enum Flawed: String, CaseIterable, Sendable {
    case adding = "AddingBinary"
    case forgetting = "Forgetting"
  }

  /// The types that the tool knows, and those that no other test is to meet.
  private let registry: StoreRegistry
  private let folder: WorkFolder

  init() throws {
    registry = try StoreRegistry(
      StoreRegistry.shippedStoreClasses + [SQLiteStore.self, AddingStore.self, ForgettingStore.self]
    )
    folder = try WorkFolder()
  }

  @Test(arguments: Flawed.allCases)
  func whatIsWrongIsNotKept(_ flawed: Flawed) throws {
    let names = try folder.names
    try expectRefusal(of: conversion(from: "todo.csv", to: flawed.rawValue))
    #expect(try folder.names == names)
  }

  @Test(arguments: Flawed.allCases)
  func whatIsWrongDoesNotReplaceAnOldFile(_ flawed: Flawed) throws {
    try folder.write("precious", to: "todo.flawed")
    let names = try folder.names
    try expectRefusal(of: conversion(from: "todo.csv", to: flawed.rawValue, isReplaced: true))
    #expect(try folder.data("todo.flawed") == Data("precious".utf8))
    #expect(try folder.names == names)
  }

  /// It is the verification that finds it.
  @Test(arguments: Flawed.allCases)
  func whatIsNotVerifiedIsKept(_ flawed: Flawed) throws {
    _ = try conversion(from: "todo.csv", to: flawed.rawValue, verifies: false).run()
    #expect(folder.exists("todo.flawed"))
  }

  /// What is copied without being read is compared with what it is a copy of.
  @Test func aCopyThatLacksARecordIsNotKept() throws {
    _ = try conversion(from: "todo.csv", to: "SQLite", at: "todo.sqlite").run()
    let error = try expectRefusal(of: conversion(from: "todo.sqlite", as: "Forgetting", to: "Forgetting"))
    #expect(error.contains("there are 6 records and 5"), "\(error)")
    // The source stays open until the process ends.
    #expect(try folder.names.filter { !$0.hasPrefix("todo.sqlite") } == ["ToDo.xcdatamodeld", "todo.csv"])
    _ = try conversion(from: "todo.sqlite", to: "SQLite").run()
    #expect(folder.exists("todo.flawed"))
  }

  @discardableResult
  private func expectRefusal(of conversion: Conversion) throws -> String {
    let error = try #require(throws: ToolError.self) { _ = try conversion.run() }
    let text = "\(error)"
    #expect(text.contains("todo.flawed: The written store differs from the source: "), "\(text)")
    #expect(text.hasSuffix("It was removed."), "\(text)")
    return text
  }

  private func conversion(
    from source: String,
    as sourceType: String? = nil,
    to type: String,
    at destination: String = "todo.flawed",
    isReplaced: Bool = false,
    verifies: Bool = true
  ) -> Conversion {
    Conversion(
      source: StoreSource(path: folder.path(source).path, typeName: sourceType, modelPath: nil, registry: registry),
      destination: Destination(path: folder.path(destination).path, typeName: type, isReplaced: isReplaced),
      verifies: verifies,
      progress: ProgressBar(phases: Conversion.phases(verifies: verifies), isShown: false)
    )
  }
}
