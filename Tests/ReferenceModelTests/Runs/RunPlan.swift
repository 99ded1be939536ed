import HeartwoodTesting

/// What a run is made on; all of it follows from the seed.
struct RunPlan {
  let schema: Schema
  let storeKind: StoreKind
  let contextCount: Int
  let tracksHistory: Bool

  init(_ schema: Schema, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    self.schema = schema
    storeKind = schema.storeKinds.randomElement(using: &generator) ?? .inMemory
    contextCount = Int.random(in: 1...3, using: &generator)
    tracksHistory = schema.hasHistory && generator.chance(oneIn: 2)
  }
}
