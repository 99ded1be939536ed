import BenchmarkSupport
import Foundation
import Testing

struct ToDoSequenceTests {
  @Test func sameSeedSameToDos() {
    #expect(Array(ToDoSequence(count: 500)) == Array(ToDoSequence(count: 500)))
    #expect(Array(ToDoSequence(count: 500)) == Array(ToDoSequence(count: 900).prefix(500)))
    #expect(Array(ToDoSequence(count: 500)) != Array(ToDoSequence(count: 500, seed: 1)))
  }

  @Test func textIsThatOfFoundation() throws {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "yyyy-MM-dd HH:mm:ss Z"
    for toDo in ToDoSequence(count: 2000) {
      var text = CSVText(reserving: 128)
      text.append(toDo)
      let line = try #require(String(bytes: text.bytes, encoding: .utf8))
      let quoted = "\"" + toDo.memo.replacingOccurrences(of: "\"", with: "\"\"") + "\""
      let memo = toDo.memo.contains(",") || toDo.memo.contains("\"") ? quoted : toDo.memo
      let date = formatter.string(from: toDo.creationDate)
      #expect(line == "\(toDo.isDone ? 1 : 0), \(memo), \(toDo.sortOrder), \(date), \(toDo.recordID.uuidString)\n")
    }
  }

  @Test func rowsAreAboutAsLongAsStated() {
    var text = CSVText(reserving: 10_000_000)
    for toDo in ToDoSequence(count: 100_000) { text.append(toDo) }
    #expect((92.5..<93.5).contains(Double(text.bytes.count) / 100_000))
  }

  @Test func valuesVary() {
    let toDos = Array(ToDoSequence(count: 20_000))
    #expect((9_500...10_500).contains(toDos.count(where: \.isDone)))
    #expect(Set(toDos.map(\.recordID)).count == toDos.count)
    #expect(Set(toDos.map(\.sortOrder)).count > 19_000)
    #expect(Set(toDos.map(\.creationDate)).count > 19_000)
    #expect(Set(toDos.map(\.memo)).count > 10_000)
    #expect((300...500).contains(toDos.count { $0.memo.contains(",") }))
    #expect((5...40).contains(toDos.count { $0.memo.contains("\"") }))
  }

  @Test func checksumDependsOnEveryValue() throws {
    let original = try #require(Array(ToDoSequence(count: 1)).first)
    let changes: [(inout ToDo) -> Void] = [
      { $0.isDone.toggle() }, { $0.memo += "x" }, { $0.sortOrder += 1 }, { $0.creationDate += 1 },
      { $0.recordID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) },
    ]
    for change in changes {
      var changed = original
      change(&changed)
      var (first, second) = (ToDoChecksum(), ToDoChecksum())
      first.add(original)
      second.add(changed)
      #expect(first.value != second.value)
    }
  }
}
