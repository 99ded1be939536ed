import HeartwoodModel

/// Elements that lie in several arrays, one after the other.
struct ChunkedElements<Element> {
  private let chunks: [ContiguousArray<Element>]
  /// The place of the first element of each chunk.
  private let starts: [Int]
  let count: Int

  init(_ chunks: [ContiguousArray<Element>]) {
    var starts: [Int] = []
    var count = 0
    for chunk in chunks {
      starts.append(count)
      count += chunk.count
    }
    self.chunks = chunks
    self.starts = starts
    self.count = count
  }

  /// O(log chunks).
  subscript(place: Int) -> Element {
    Misuse.check(place >= 0 && place < count, "There are \(count) elements, and none at \(place).")
    let chunk = starts.firstPlace { $0 > place } - 1
    return chunks[chunk][place - starts[chunk]]
  }
}

extension ChunkedElements: Sendable where Element: Sendable {}
