import Testing

@testable import HeartwoodGraph

/// Readers of mailboxes that are cancelled at any moment.
@Suite(.timeLimit(.minutes(5))) struct MailboxTests {
  private struct Letter: MailboxElement, Equatable {
    var number: Int
    static var capacity: Int { 4 }
    mutating func append(_ later: Letter) { number = later.number }
  }

  @Test func aReaderThatIsCancelledGetsNothing() async {
    let mailbox = Mailbox<Letter>()
    let task = Task { await mailbox.next() }
    task.cancel()
    #expect(await task.value == nil)
    #expect(mailbox.readerCount == 0)
    mailbox.put(Letter(number: 1))
    #expect(await mailbox.next() == Letter(number: 1))
  }

  @Test func readersLeaveNothingBehind() async {
    let mailbox = Mailbox<Letter>()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<2_000 {
        // A reader of its own gets an answer while another one is called off.
        let reader = Task { await mailbox.next() }
        group.addTask {
          mailbox.put(Letter(number: number))
          reader.cancel()
          _ = await reader.value
        }
      }
    }
    #expect(mailbox.readerCount == 0)
  }

  @Test func aCancellationAfterTheAnswerLeavesNothingBehind() async {
    let mailbox = Mailbox<Letter>()
    mailbox.put(Letter(number: 1))
    #expect(await mailbox.next() == Letter(number: 1))
    // What the task would do whose reader, the first one, has its answer already.
    mailbox.cancel(1)
    #expect(mailbox.readerCount == 0)
    mailbox.finish()
    #expect(await mailbox.next() == nil)
  }
}
