import Testing

@testable import HeartwoodStore

@Suite struct VersionColumnTests {
  private static let highest = UInt64(Int64.max)

  private func column(_ versions: [UInt64]) -> VersionColumn {
    let bytes = GrowableBytes()
    for version in versions { bytes.append(version) }
    return .each(bytes.sealed())
  }

  @Test func updatesRaiseVersions() {
    let raised = column([1, 7, 3]).raising([0, 1], rowCount: 3)
    #expect((0..<3).map { raised[$0] } == [2, 8, 3])
    #expect(VersionColumn.same(4).raising([0, 1], rowCount: 2)[1] == 5)
    #expect(VersionColumn.same(4).raising([1], rowCount: 2)[0] == 4)
  }

  @Test(arguments: [highest, highest + 1, .max]) func theHighestVersionIsFollowedByTheFirst(_ version: UInt64) {
    let raised = column([Self.highest - 1, version]).raising([0, 1], rowCount: 2)
    #expect((0..<2).map { raised[$0] } == [Self.highest, 1])
    #expect(VersionColumn.same(version).raising([0, 1], rowCount: 2)[0] == 1)
  }
}
