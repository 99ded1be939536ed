import Heartwood
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension StoreConformance {
  /// What records are called stays the same.
  var referenceCases: [ConformanceCase] {
    StoreCapabilities.ReferenceKind.allCases.map { kind in
      makeCase("keeps references of kind \(kind.rawValue)", needs: .references(kind)) {
        try $0.keeps(ReferenceNames.samples(of: kind))
      }
    } + [
      makeCase("keeps references of all its kinds side by side") { conformance in
        try conformance.keeps(
          conformance.capabilities.referenceKinds.flatMap { ReferenceNames.samples(of: $0).prefix(5) }
        )
      },
      makeCase("gives new records names of their own") { try $0.namesNewRecords() },
    ]
  }

  private func keeps(_ references: [ReferenceID]) throws {
    let bench = try smallBench()
    let source = try bench.openInMemory()
    try source.insert(references, seed: 1)
    let expected = try source.contents()
    let found = try bench.reopened(try bench.convert(source)).contents()
    try expectConverted(found, as: expected, "a store whose records are called by \(references.count) names")
  }

  private func namesNewRecords() throws {
    let bench = try smallBench()
    var open = try bench.open()
    var seen: Set<ReferenceID> = []
    let preferred = try unwrap(capabilities.referenceKinds.first, "a kind of reference")
    for round in 1...3 {
      try open.insertRandom(4, seed: UInt64(round))
      open = try bench.reopened(open)
      let ids = try open.makeContext().fetch(entityName: ModelMaker.entity).map(\.objectID)
      seen.formUnion(ids.map(\.reference))
      try expect("the number of names after \(round) saves", is: round * 4, found: seen.count)
      let kinds = Set(ids.map(\.reference.kind))
      try expect("the kinds of new records' names", is: [preferred], found: kinds)
    }
  }
}
