import Foundation
import HeartwoodModelFiles
import HeartwoodTesting
import Testing

@Suite("Finding the texts of a model")
struct ModelLocalizationSearchTests {
  @Test(
    "The user's best language that there are texts in is taken",
    arguments: [
      (["de-CH", "fr"], "CH"), (["de-AT", "fr"], "de"), (["it", "fr-CA"], "fr"), (["DE_ch"], "CH"),
      (["pt-BR"], "BR"), (["zh-Hans-CN"], "zh"), (["it"], "base"), ([], "base"),
    ]
  )
  func languages(_ languages: [String], _ expected: String) throws {
    let folder = try ScratchFolder()
    for (language, text) in [
      ("de-CH", "CH"), ("de", "de"), ("fr", "fr"), ("pt_BR", "BR"), ("zh-Hans", "zh"), ("Base", "base"),
    ] {
      try folder.write("\"k\" = \"\(text)\";", to: "\(language).lproj/ToDoModel.strings")
    }
    try folder.write("\"k\" = \"other\";", to: "it.lproj/OtherModel.strings")
    for name in ["ToDo.xcdatamodeld", "ToDo.momd"] {
      let model = folder.url.appending(path: name)
      #expect(try ModelLocalization(forModelAt: model, languages: languages)?.dictionary == ["k": expected])
    }
  }

  @Test("Where there are none, there is nothing, and a file that is none is an error")
  func absence() throws {
    let folder = try ScratchFolder()
    let model = folder.url.appending(path: "ToDo.xcdatamodeld")
    #expect(try ModelLocalization(forModelAt: model, languages: ["de"]) == nil)
    #expect(try ModelLocalization(forModelAt: model.appending(path: "none/M.mom"), languages: ["de"]) == nil)
    try folder.write("k", to: "de.lproj/ToDoModel.strings")
    #expect(throws: ModelFileError.self) { try ModelLocalization(forModelAt: model, languages: ["de"]) }
    #expect(try ModelLocalization(forModelAt: model, languages: ["en"]) == nil)
  }
}
