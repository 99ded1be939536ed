#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A point in the histories of stores: behind which transaction of each of them somebody stands.
///
/// Keep the token of the last transaction that you have seen, and fetch what came after it. It is `Codable`, so it outlives the
/// process: as JSON it is an object with a number for each store, by the store's identifier.
///
/// Tokens are compared for one store at a time: of two tokens of several stores, neither need come first.
public struct PersistentHistoryToken: Sendable, Hashable {
  private var numbers: [UUID: Int64]

  /// Makes a token that stands behind the transaction with each number, by the identifier of its store.
  public init(_ transactionNumbers: [UUID: Int64]) {
    numbers = transactionNumbers
  }
}

extension PersistentHistoryToken {
  /// The stores that the token says something about.
  public var storeIdentifiers: Set<UUID> { Set(numbers.keys) }

  /// The number of the last transaction of a store that the token stands behind, 0 for none; nil where it says nothing about the
  /// store.
  public func transactionNumber(forStoreWithIdentifier identifier: UUID) -> Int64? { numbers[identifier] }

  /// Whether this token stands before `other` in the history of a store, so that there is something between them. A token that
  /// says nothing about a store stands before all of its history.
  public func precedes(_ other: PersistentHistoryToken, inStoreWithIdentifier identifier: UUID) -> Bool {
    numbers[identifier] ?? 0 < other.numbers[identifier] ?? 0
  }

  /// A token that stands where this one does, but for the stores of `other`, for which it stands where that one does.
  public func updated(with other: PersistentHistoryToken) -> PersistentHistoryToken {
    PersistentHistoryToken(numbers.merging(other.numbers) { $1 })
  }
}

extension PersistentHistoryToken: Codable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Reads a token from an object with a number for each store.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    numbers = [:]
    for key in container.allKeys {
      let number = try container.decode(Int64.self, forKey: key)
      guard let identifier = UUID(uuidString: key.stringValue), number >= 0 else {
        throw DecodingError.dataCorruptedError(
          forKey: key,
          in: container,
          debugDescription: "A token has a number, which is not negative, for each UUID of a store."
        )
      }
      numbers[identifier] = number
    }
  }

  /// Writes the token as an object with a number for each store.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    for (identifier, number) in numbers {
      try container.encode(number, forKey: Key(stringValue: identifier.uuidString))
    }
  }
}
