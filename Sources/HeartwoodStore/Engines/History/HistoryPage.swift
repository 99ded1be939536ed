#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import Synchronization

/// A run of transactions as bytes, which a store keeps as they are: the section "History" of `Formats/Binary` specifies them.
///
/// A page never changes: a save gives a store either one more page, or another one in the place of the last.
public final class HistoryPage: Sendable {
  /// How many transactions there are; at least one.
  public let transactionCount: Int
  package let content: ByteSlice
  private let verifier: (any HistoryPageVerifier)?
  private let isVerified: Mutex<Bool>

  /// A page of a file, whose bytes have not been looked at.
  package init(_ content: ByteSlice, transactionCount: Int, verifier: any HistoryPageVerifier) {
    self.content = content
    self.transactionCount = transactionCount
    self.verifier = verifier
    self.isVerified = Mutex(false)
  }

  /// A page of bytes that are known to be well formed.
  init(sound content: ByteSlice, transactionCount: Int) {
    self.content = content
    self.transactionCount = transactionCount
    self.verifier = nil
    self.isVerified = Mutex(true)
  }

  /// Makes a page of the bytes that a store has kept. O(bytes).
  ///
  /// - Throws: ``PersistenceError/Code/fileCorrupt`` where they are not `transactionCount` transactions.
  public convenience init(bytes: [UInt8], transactionCount: Int) throws(PersistenceError) {
    let content = bytes.withUnsafeBytes { ByteSlice(ByteRegion.copying($0)) }
    if let fault = Self.fault(in: content, transactionCount: transactionCount) {
      throw PersistenceError(
        .fileCorrupt,
        "The history was cut short or altered: \(fault.what), at byte \(fault.offset) of a page.",
        recovery: .restoreCopy
      )
    }
    self.init(sound: content, transactionCount: transactionCount)
  }

  /// A copy of the bytes, for a store to keep. A store calls it while it saves, when all pages have been checked.
  public var bytes: [UInt8] { Array(content.unsafeBytes) }
}

/// Makes sure of a page that was taken from a file as it lies there, before it is used.
package protocol HistoryPageVerifier: Sendable {
  /// Checks checksum and content.
  func verify() throws(PersistenceError)
}

extension HistoryPage {
  /// How many bytes a transaction has at least.
  package static let minimumTransactionLength = HistoryEntry.minimumLength

  /// A page of so many bytes gets no more transactions.
  static let fullByteCount = 1 << 16

  /// What is wrong with bytes that should be a page, or nil. O(bytes).
  package static func fault(in content: ByteSlice, transactionCount: Int) -> HistoryFault? {
    do throws(HistoryFault) {
      guard transactionCount > 0 else { throw HistoryFault("a page of the history has no transaction", at: 0) }
      var cursor = HistoryCursor(content)
      for _ in 0..<transactionCount { try HistoryEntry(&cursor, number: 0).checkRecords() }
      try cursor.expectEnd("bytes follow the last transaction of a page of the history")
      return nil
    } catch {
      return error
    }
  }

  /// Makes sure that the page may be read; after the first success it returns at once.
  func verify() throws(PersistenceError) {
    try isVerified.withLock { isVerified throws(PersistenceError) in
      if isVerified { return }
      try verifier?.verify()
      isVerified = true
    }
  }

  /// The transactions of a page that has been verified, of which the first has a number.
  func entries(from first: Int64) -> [HistoryEntry] {
    var cursor = HistoryCursor(content)
    return (0..<transactionCount).map { index in
      do throws(HistoryFault) {
        return try HistoryEntry(&cursor, number: first + Int64(index))
      } catch {
        preconditionFailure("A page of the history is verified before it is read.")
      }
    }
  }

  /// The page with one more transaction at its end.
  func appending(_ transaction: ByteSlice) -> HistoryPage {
    let bytes = GrowableBytes(capacity: content.count + transaction.count)
    bytes.append(content.unsafeBytes)
    bytes.append(transaction.unsafeBytes)
    return HistoryPage(sound: bytes.sealed(), transactionCount: transactionCount + 1)
  }

  /// The page, which has been verified, without its first `count` transactions, of which it has more.
  func removingFirst(_ count: Int) -> HistoryPage {
    let start = entries(from: 1)[count].start
    let rest = UnsafeRawBufferPointer(rebasing: content.unsafeBytes[start...])
    return HistoryPage(sound: ByteSlice(ByteRegion.copying(rest)), transactionCount: transactionCount - count)
  }
}
