import HeartwoodStore
import Testing

@Suite struct StoreOptionsTests {
  @Test func keysKnowWhatHoldsUntilTheyAreSet() {
    var options = StoreOptions()
    #expect(options[.pageSize] == 4_096 && options[.nickname] == nil && options[.tags] == [])
    #expect(!options[.isReadOnly] && options[.migratesInStore] && options[.allowsMigrationLoss] == nil)
    options[.pageSize] = 512
    options[.nickname] = "Ann"
    options[.tags].append("home")
    #expect(options[.pageSize] == 512 && options[.nickname] == "Ann" && options[.tags] == ["home"])
    options[.nickname] = nil
    #expect(options[.nickname] == nil)
  }

  @Test func settingTheDefaultIsSetting() {
    var options = StoreOptions()
    #expect(!options.isSet(.pageSize))
    options[.pageSize] = 4_096
    #expect(options.isSet(.pageSize))
    options[.pageSize] = 1
    options.removeValue(for: .pageSize)
    #expect(!options.isSet(.pageSize) && options[.pageSize] == 4_096)
  }

  @Test func aValueOfAnotherTypeIsNone() {
    var options = StoreOptions()
    options[StoreOptionKey<String>("pageSize", default: "")] = "many"
    #expect(options[.pageSize] == 4_096)
  }
}

extension StoreOptionKey<Int> {
  fileprivate static let pageSize = StoreOptionKey("pageSize", default: 4_096)
}

extension StoreOptionKey<String?> {
  fileprivate static let nickname = StoreOptionKey("nickname")
}

extension StoreOptionKey<[String]> {
  fileprivate static let tags = StoreOptionKey("tags", default: [])
}
