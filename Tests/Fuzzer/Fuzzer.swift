import Foundation
import ParserTrials

/// The parser that `HEARTWOOD_FUZZ_PARSER` names.
private let trial: ParserTrial = {
  let name = ProcessInfo.processInfo.environment["HEARTWOOD_FUZZ_PARSER"] ?? ""
  guard let trial = ParserTrial(rawValue: name) else {
    let names = ParserTrial.allCases.map(\.rawValue).joined(separator: ", ")
    FileHandle.standardError.write(Data("HEARTWOOD_FUZZ_PARSER is to be one of \(names).\n".utf8))
    exit(64)
  }
  return trial
}()

/// What libFuzzer calls with bytes that it has made up: whatever is no answer ends the process, and libFuzzer keeps the bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  // libFuzzer owns the bytes for as long as the call takes.
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  do throws(ParserTrial.Flaw) {
    try trial.run(bytes)
  } catch {
    FileHandle.standardError.write(Data("\(error.trial.rawValue): \(error)\n".utf8))
    abort()
  }
  return 0
}
