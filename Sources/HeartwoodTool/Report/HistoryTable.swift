import Heartwood
import HeartwoodFormats
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Transactions for people, one on each line.
enum HistoryTable {
  static func text(_ transactions: [PersistentHistoryTransaction]) -> String {
    let lines = transactions.map(cells)
    let numbers: Set = ["NUMBER", "INSERTED", "UPDATED", "DELETED"]
    let titles = ["NUMBER", "DATE", "AUTHOR", "CONTEXT", "INSERTED", "UPDATED", "DELETED"]
    var columns = TextColumns(titles.map { .init(title: $0, isRightAligned: numbers.contains($0)) })
    columns.widen(to: lines)
    let output = GrowableBytes()
    columns.appendHeader(to: output)
    for line in lines { columns.append(line, to: output) }
    return String(decoding: output.unsafeMutableBytes, as: UTF8.self)
  }

  private static func cells(_ transaction: PersistentHistoryTransaction) -> [String] {
    let date = GrowableBytes()
    RecordDate.append(transaction.timestamp.timeIntervalSinceReferenceDate, to: date)
    return [
      "\(transaction.transactionNumber)", String(decoding: date.unsafeMutableBytes, as: UTF8.self),
      transaction.author ?? "", transaction.contextName ?? "",
    ] + PersistentHistoryChange.ChangeType.allCases.map { "\(transaction.changeCount(of: $0))" }
  }
}
