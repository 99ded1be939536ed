import Heartwood
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension StoreConformance {
  /// What a store keeps can be kept by every other type that can hold the same model.
  var conversionCases: [ConformanceCase] {
    StoreRegistry.default.typeDescriptions.filter { $0.type != type }.map { other in
      makeCase("is converted to \(other.type) and back") { try $0.converts(to: other) }
    } + [
      makeCase("is copied by being converted to its own type", needs: .file) { try $0.copies() },
      makeCase("does not replace a file unless it is told to", needs: .file) { conformance in
        try ConformanceDisk.each { try conformance.doesNotReplace($0) }
      },
    ]
  }

  private func converts(to other: StoreTypeDescription) throws {
    let model = try ModelMaker(capabilities, and: other.capabilities).richest()
    let bench = Workbench(self, model: model)
    var source = try bench.openInMemory()
    // What the other type refuses is not known here.
    source.refuses = { value, type in self.refuses(value, type) || !NearDates.contain(value) }
    let kinds = capabilities.referenceKinds.filter(other.capabilities.referenceKinds.contains)
    try source.insert(kinds.flatMap { ReferenceNames.samples(of: $0).prefix(3) }, seed: 1)
    try source.insertRandom(20, seed: 2)
    var generator = SeededGenerator(seed: 3)
    try source.linkRandomly(&generator)
    let expected = try source.contents()
    let open = try bench.convert(source)
    try expectSame(try bench.reopened(open).contents(), as: expected, "what was converted from memory")
    let converted = try convert(open, to: other, bench)
    try expectSame(try converted.contents(), as: expected, "what was converted to \(other.type)")
    let back = try bench.convert(converted, to: "back")
    try expectSame(
      try bench.reopened(back, "back").contents(),
      as: expected,
      "what was converted to \(other.type) and back"
    )
  }

  /// The store as it is found in the file of another type.
  private func convert(_ open: OpenStore, to other: StoreTypeDescription, _ bench: Workbench) throws -> OpenStore {
    let url = bench.url("other", type: other)
    let store = try open.coordinator.migratePersistentStore(open.store, to: url, type: other.type)
    guard url != nil else { return bench.openStore(store, in: open.coordinator) }
    let coordinator = try bench.makeCoordinator()
    return bench.openStore(try coordinator.addPersistentStore(type: other.type, at: url), in: coordinator)
  }

  private func copies() throws {
    let bench = Workbench(self, model: try ModelMaker(capabilities).richest())
    let open = try bench.open()
    try open.insertRandom(10, seed: 1)
    let expected = try open.contents()
    let before = try bench.bytes()
    try bench.convert(open, to: "copy")
    try expectSame(try bench.open("copy").contents(), as: expected, "the copy")
    try expect(try bench.bytes() == before, "expected the file that was copied to stay as it was")
  }

  private func doesNotReplace(_ disk: ConformanceDisk) throws {
    let bench = try smallBench(disk)
    try bench.open("other").insertRandom(3, seed: 1)
    let before = try bench.bytes("other")
    let open = try bench.open()
    try open.insertRandom(2, seed: 2)
    try expectError(.fileExists, when: "a file stands where a store is converted to") {
      try bench.convert(open, to: "other")
    }
    try expect(try bench.bytes("other") == before, "expected the file that stands there to stay as it was")
  }
}
