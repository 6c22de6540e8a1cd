import Glibc
import LuaBridge
import Testing

@Suite struct MailboxTests {
  private func message(
    _ call: Int64, _ kind: Mailbox.Kind, _ text: String = "1", progress: Bool = false, frees: Int = 0
  ) -> Mailbox.Message {
    Mailbox.Message(
      call: call, kind: kind, payload: Payload(Array(text.utf8)), isProgress: progress, freedSlots: frees)
  }

  private func isReadable(_ descriptor: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) == 1
  }

  private func text(_ message: Mailbox.Message?) -> String {
    guard let message else { return "none" }
    let bytes = message.payload.release()
    defer { free(bytes.data) }
    return String(decoding: UnsafeRawBufferPointer(start: bytes.data, count: bytes.length), as: UTF8.self)
  }

  @Test func descriptor_isReadableExactlyWhileSomethingWaits() throws {
    let mailbox = try Mailbox(capacity: 10)
    #expect(!isReadable(mailbox.descriptor))
    mailbox.post(message(1, .result))
    mailbox.post(message(2, .result))
    #expect(isReadable(mailbox.descriptor))
    #expect(mailbox.take()?.call == 1)
    #expect(isReadable(mailbox.descriptor))
    #expect(mailbox.take()?.call == 2)
    #expect(!isReadable(mailbox.descriptor))
    #expect(mailbox.take() == nil)
  }

  @Test func wake_isReadableUntilAnswered() throws {
    let mailbox = try Mailbox(capacity: 10)
    mailbox.wake()
    mailbox.post(message(1, .result))
    _ = mailbox.take()
    #expect(isReadable(mailbox.descriptor))
    #expect(mailbox.clearWake() == 0)
    #expect(!isReadable(mailbox.descriptor))
  }

  @Test func progress_newerReplacesWaiting_inItsPlace() throws {
    let mailbox = try Mailbox(capacity: 10)
    mailbox.post(message(1, .update, "start"))
    mailbox.post(message(1, .update, "10", progress: true))
    mailbox.post(message(2, .update, "other 5", progress: true))
    mailbox.post(message(1, .update, "20", progress: true))
    mailbox.post(message(1, .end, "end"))
    var seen: [String] = []
    while let next = mailbox.take() { seen.append(text(next)) }
    #expect(seen == ["start", "20", "other 5", "end"])
    mailbox.post(message(1, .update, "30", progress: true))
    #expect(text(mailbox.take()) == "30")
  }

  @Test func progress_afterManyTaken_replacesTheRightOne() throws {
    let mailbox = try Mailbox(capacity: 1000)
    for i in 0..<300 { mailbox.post(message(Int64(i + 10), .result)) }
    for _ in 0..<200 { _ = mailbox.take() }
    mailbox.post(message(1, .update, "old", progress: true))
    for _ in 0..<90 { _ = mailbox.take() }
    mailbox.post(message(1, .update, "new", progress: true))
    for _ in 0..<10 { #expect(mailbox.take()?.kind == .result) }
    #expect(text(mailbox.take()) == "new")
    #expect(mailbox.take() == nil)
  }

  @Test func book_full_isRefusedUntilAnAnswerIsTaken() throws {
    let mailbox = try Mailbox(capacity: 3)
    #expect(mailbox.reserve(2))
    #expect(!mailbox.reserve(2))
    #expect(mailbox.reserve(1))
    mailbox.post(message(1, .result, frees: 2))
    #expect(!mailbox.reserve(1))
    _ = mailbox.take()
    #expect(mailbox.reserve(2))
  }

  @Test func close_dropsWhatComesLater() throws {
    let mailbox = try Mailbox(capacity: 3)
    mailbox.post(message(1, .result))
    mailbox.close()
    mailbox.post(message(2, .result))
    mailbox.wake()
    mailbox.close()
    #expect(mailbox.take() == nil)
    #expect(mailbox.descriptor == -1)
    #expect(!mailbox.reserve(1))
  }
}
