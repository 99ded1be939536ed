import HeartwoodStore

/// Makes sure of a page of the history that lies in a mapped file, before it is read.
struct BinaryHistoryVerifier: HistoryPageVerifier {
  let file: BinaryFile
  let section: Int
  let transactionCount: Int

  func verify() throws(PersistenceError) {
    try file.check(section: section, "a page of the history")
    let bytes = file.bytes(ofSection: section)
    guard let fault = HistoryPage.fault(in: bytes, transactionCount: transactionCount) else { return }
    throw file.fault.corrupt(fault.what, at: file.directory.sections[section].offset + fault.offset)
  }
}
