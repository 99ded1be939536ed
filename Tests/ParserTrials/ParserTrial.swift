import HeartwoodModel
import HeartwoodStore

/// A parser, and what is tried on it: whatever the bytes are, it gives what they say, or an error that says what is wrong with them.
///
/// Tests replay bytes that were found to be worth it; the fuzzer looks for others.
package enum ParserTrial: String, CaseIterable, Sendable {
  case binary
  case csv
  case xml
  case propertyList = "property-list"
  case coreDataBinary = "core-data-binary"
  case model
  case legacyModel = "legacy-model"
  case compiledModel = "compiled-model"
  case jsonModel = "json-model"
  case mappingModel = "mapping-model"
  case predicate
  case objectURI = "object-uri"
  case sqlite
  case sqliteMetadata = "sqlite-metadata"
  case sqliteModel = "sqlite-model"

  /// A parser that did something else than to read bytes or to refuse them with a reason.
  package struct Flaw: Error, CustomStringConvertible {
    package let trial: ParserTrial
    package let description: String
  }

  /// Gives `bytes` to the parser.
  ///
  /// - Returns: whether it took them.
  @discardableResult
  package func run(_ bytes: [UInt8]) throws(Flaw) -> Bool {
    do {
      try parse(bytes)
      return true
    } catch let flaw as Flaw {
      throw flaw
    } catch  where Self.isExplained(error) || self == .jsonModel && error is DecodingError {
      return false
    } catch {
      throw Flaw(trial: self, description: "threw \(type(of: error)): \(error)")
    }
  }

  private func parse(_ bytes: [UInt8]) throws {
    switch self {
    case .binary: try StoreTrial.run(BinarySeal.sealed(bytes), as: .binary)
    case .csv: try StoreTrial.run(bytes, as: .csv)
    case .xml: try StoreTrial.run(bytes, as: .xml)
    case .propertyList: try StoreTrial.run(bytes, as: .propertyList)
    case .coreDataBinary: try StoreTrial.run(bytes, as: .coreDataBinary)
    case .model: try ModelTrial.readFile(bytes, named: "Model.xcdatamodel/contents")
    case .legacyModel: try ModelTrial.readFile(bytes, named: "Model.xcdatamodel/elements")
    case .compiledModel: try ModelTrial.readFile(bytes, named: "Model.mom")
    case .jsonModel: try ModelTrial.readJSON(bytes)
    case .mappingModel: try ModelTrial.readMapping(bytes)
    case .predicate: try TextTrial.readPredicate(bytes)
    case .objectURI: try TextTrial.readURI(bytes)
    case .sqlite: try SQLiteTrial.open(bytes)
    case .sqliteMetadata: try SQLiteTrial.readMetadata(bytes)
    case .sqliteModel: try SQLiteTrial.readModel(bytes)
    }
  }

  /// Throws where `condition` does not hold, as a flaw of the parser.
  package func expect(_ condition: Bool, _ description: @autoclosure () -> String) throws(Flaw) {
    guard condition else { throw Flaw(trial: self, description: description()) }
  }
}
