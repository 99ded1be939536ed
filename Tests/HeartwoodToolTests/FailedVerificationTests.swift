import Foundation
import Heartwood
import Testing

@testable import HeartwoodTool

/// `convert --verify` to stores that do not keep what they are given, which none does that ships: so it is run in this process.
@Suite struct FailedVerificationTests {
  enum Flawed: String, CaseIterable, Sendable {
    case adding = "AddingBinary"
    case forgetting = "Forgetting"

    func register(in registry: StoreRegistry) throws {
      switch self {
      case .adding: try registry.register(AddingStore.self)
      case .forgetting: try registry.register(ForgettingStore.self)
      }
    }
  }

  private static let registry = Result {
    for flawed in Flawed.allCases { try flawed.register(in: .tool) }
  }

  private let folder: WorkFolder

  init() throws {
    try Self.registry.get()
    folder = try WorkFolder()
  }

  @Test(arguments: Flawed.allCases)
  func whatIsWrongIsNotKept(_ flawed: Flawed) throws {
    let names = try folder.names
    try expectRefusal(of: conversion(to: flawed, isReplaced: false, verifies: true))
    #expect(try folder.names == names)
  }

  @Test(arguments: Flawed.allCases)
  func whatIsWrongDoesNotReplaceAnOldFile(_ flawed: Flawed) throws {
    try folder.write("precious", to: "todo.flawed")
    let names = try folder.names
    try expectRefusal(of: conversion(to: flawed, isReplaced: true, verifies: true))
    #expect(try folder.data("todo.flawed") == Data("precious".utf8))
    #expect(try folder.names == names)
  }

  /// It is the verification that finds it.
  @Test(arguments: Flawed.allCases)
  func whatIsNotVerifiedIsKept(_ flawed: Flawed) throws {
    _ = try conversion(to: flawed, isReplaced: false, verifies: false).run()
    #expect(folder.exists("todo.flawed"))
  }

  private func expectRefusal(of conversion: Conversion) throws {
    let error = try #require(throws: ToolError.self) { _ = try conversion.run() }
    let text = "\(error)"
    #expect(text.contains("todo.flawed: What was written is not what was read: "), "\(text)")
    #expect(text.hasSuffix("It was not kept."), "\(text)")
  }

  private func conversion(to flawed: Flawed, isReplaced: Bool, verifies: Bool) -> Conversion {
    Conversion(
      source: StoreSource(path: folder.path("todo.csv").path, typeName: nil, modelPath: nil),
      destination: Destination(
        path: folder.path("todo.flawed").path,
        typeName: flawed.rawValue,
        isReplaced: isReplaced
      ),
      verifies: verifies,
      progress: ProgressBar(phases: Conversion.phases(verifies: verifies), isShown: false)
    )
  }
}
