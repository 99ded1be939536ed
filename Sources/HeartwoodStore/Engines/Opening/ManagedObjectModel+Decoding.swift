package import HeartwoodModel

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

extension ManagedObjectModel {
  /// The model of which `data` is the JSON, as a store's file has it in itself, or a file of its own.
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed``, which says what is wrong where in the JSON. Who knows the file names it.
  package static func decoded(from data: Data) throws(PersistenceError) -> ManagedObjectModel {
    do {
      return try ManagedObjectModel(encoded: data)
    } catch let error as DecodingError {
      throw PersistenceError(.fileMalformed, "The model, which is to be JSON, cannot be read: \(error.explanation)")
    } catch let error as ModelValidationError {
      throw PersistenceError(.fileMalformed, "\(error)")
    } catch {
      throw PersistenceError(.fileMalformed, "The model cannot be read.", underlyingError: error)
    }
  }
}

extension DecodingError {
  /// What is wrong where, without the name of a Swift type.
  fileprivate var explanation: String {
    switch self {
    case .keyNotFound(let key, let context): "\(Self.place(context) ?? "It") has no \(key.stringValue)."
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      Self.place(context).map { "\($0) is of another type than it must be." } ?? "It is no JSON object."
    case .dataCorrupted(let context):
      Self.place(context).map { "\($0): \(Self.detail(context))" } ?? "It is not JSON, or not all of it is there."
    @unknown default: "It is not JSON of a model."
    }
  }

  /// The decoder speaks of Swift where a name is none of those that are known; else this package says what is wrong.
  private static func detail(_ context: Context) -> String {
    let text = context.debugDescription
    return text.hasPrefix("Cannot initialize ") ? "It is none of the names that are known." : text
  }

  /// Where something is: `entities[0].properties[2].type`; nil where it is all.
  private static func place(_ context: Context) -> String? {
    guard !context.codingPath.isEmpty else { return nil }
    return context.codingPath.reduce(into: "") { text, key in
      if let index = key.intValue { text += "[\(index)]" } else { text += (text.isEmpty ? "" : ".") + key.stringValue }
    }
  }
}
