import Foundation
import HeartwoodModel
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodFormats

/// The file of ``GoldenSample`` among the samples of a format whose files say all of it.
struct GoldenFile {
  let storeClass: any AtomicStoreClass.Type
  let folder: FormatFolder
  let name: String

  /// The sample as a file in memory. With `HEARTWOOD_WRITE_SAMPLES` set, it is written if there is none.
  func file() throws -> StoreFile {
    let contents = try GoldenSample.contents()
    let file = StoreFile(storeClass, contents.model)
    try file.write(try folder.bytes(name) { try file.create(contents) })
    return file
  }

  /// Expects the records of the sample, the same bytes if they are written again, and the model.
  func checkContents() throws {
    let file = try file()
    let contents = try file.open().contents()
    #expect(ContentsComparison.firstDifference(try GoldenSample.contents(), contents) == nil)
    #expect(try file.create(contents) == file.bytes)
    #expect(try storeClass.readModel(from: file.input, options: file.options) == SampleModel.make())
  }

  /// Expects that a reader which is written from the specification alone finds the same.
  func checkIndependentReader() throws {
    _ = try file()
    let result = try PythonReader.run(
      [folder.url.appending(path: "samples/\(name)").path],
      of: folder.url.lastPathComponent
    )
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.output == Data(try FormatFolder("Binary").bytes("version-1.jsonl")),
      "\(String(decoding: result.output, as: UTF8.self))"
    )
  }
}
