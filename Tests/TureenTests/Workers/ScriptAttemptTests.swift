import Glibc
import TestSupport
import Testing

@testable import Tureen

/// Scripts of jobs in processes of their own.
@Suite(.timeLimit(.minutes(60))) struct ScriptAttemptTests {
  private func end(of script: String, _ place: String, stopWhen isReady: (() -> Void)? = nil) async -> AttemptEnd {
    let (ends, reported) = AsyncStream.makeStream(of: AttemptEnd.self)
    let attempt = ScriptAttempt { reported.yield($0) }
    attempt.begin(["/bin/sh", "-c", script, place], [:])
    if let isReady {
      isReady()
      attempt.stop()
    }
    for await end in ends { return end }
    return .stopped
  }

  /// Another worker may run the job as soon as this attempt has ended, so nothing of it may go on.
  @Test(arguments: [false, true]) func programsOfTheScript_endWithIt(isStopped: Bool) async throws {
    let folder = try TemporaryFolder(), pipe = folder.path + "/pipe"
    #expect(mkfifo(pipe, 0o600) == 0)
    let reading = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(reading) }
    _ = fcntl(reading, F_SETFL, 0)
    // The program holds the pipe open for as long as it lives.
    let script = "sleep 3000 >'\(pipe)' & echo ready >'\(pipe)'; " + (isStopped ? "wait" : "exit 0")
    let end = await end(of: script, folder.path, stopWhen: isStopped ? { #expect(read(reading) == "ready\n") } : nil)
    if isStopped {
      #expect(end == .stopped)
    } else {
      #expect(end == .done(counts: [:]))
      #expect(read(reading) == "ready\n")
    }
    #expect(read(reading) == "")
  }

  /// Blocks for what comes next; the empty text is the end.
  private func read(_ descriptor: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 100), waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    poll(&waiting, 1, -1)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }
}
