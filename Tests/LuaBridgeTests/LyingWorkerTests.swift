import CIsolation
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LuaBridge

/// Workers that scripts have taken over: what they send, and what the walls leave them.
@Suite(.enabled(if: Isolation.isSupported), .ownThreads) struct LyingWorkerTests {
  private static let liar = Result { try Isolation.compile("liar", defining: ["-DLAYERS=15"]) }
  private static let bare = Result { try Isolation.compile("liar", defining: ["-DLAYERS=7"]) }

  /// Each line is a frame; see liar.c. The last word is in the message.
  static let violations: [(frames: String, detail: String)] = [
    ("frame 99 0 0 0 0 0", "kind 99"), ("frame 0 0 0 0 0 0", "kind 0"), ("frame 18 0 0 0 0 0", "kind 18"),
    ("frame 2 1 0 0 0 4294967295", "4294967295 bytes"), ("frame 2 1 0 0 0 67108865", "67108865 bytes"),
    ("frame 1 15 0 0 0 0", "wrong time"),
    ("frame 2 1 0 4 1 3 abc", "longer than the frame"), ("frame 2 1 0 4294967295 4294967295 3 abc", "longer than the frame"),
    ("frame 2 0 0 0 0 2 {}", "do not grow"), ("frame 2 -5 0 0 0 2 {}", "do not grow"),
    ("frame 2 7 0 4 1 7 echox{}\nframe 2 7 0 4 1 7 echox{}", "do not grow"),
    ("frame 2 1 0 1 1 4 \u{e9}{}", "not UTF-8"),
    ("frame 4 0 1 9 0 2 ab", "longer than the frame"),
    ("frame 4 0 1 1 0 2 \u{e9}", "not UTF-8"), ("frame 7 0 5 0 0 2 ab", "longer than the frame"),
    ("frame 8 9 0 0 0 0", "end that does not exist"), ("frame 8 4 0 0 0 0", "end that does not exist"),
    ("frame 8 4 300 0 0 0", "end that does not exist"), ("frame 8 3 0 77 0 0", "limit that does not exist"),
    ("frame 8 0 0 0 9 2 ab", "longer than the frame"), ("raw GET / HTTP/1.1 and so on and so on", "kind"),
  ]

  @Test(arguments: violations)
  func worker_thatSendsWhatIsNotACall_isEnded(frames: String, detail: String) throws {
    let result = try IsolatedResult.of(frames, worker: Self.liar.get())
    #expect(result.end?.kind == .violation, "\(result.outcome)")
    #expect(result.end?.message.contains("sent something that is not a call") == true)
    #expect(result.end?.message.contains(detail) == true, "\(result.outcome)")
  }

  /// Calls that are wrong in a way that is the script's business are answered; the worker goes on.
  @Test(arguments: [
    "frame 2 1 0 2 1 5 \u{e9}x{}", "frame 4 0 1 2 1 2 \u{e9}", "frame 2 1 0 4 1 10 echox{\"a\":\nframe 2 2 0 0 0 0",
    "frame 3 99 0 0 0 0", "frame 5 99 0 0 0 0", "frame 6 99 1 0 0 2 {}",
    "frame 6 99 77 0 0 1 {", "frame 7 0 5 0 0 7 a.b.c{}", "frame 2 1 0 4 1 5 echox",
    "frame 2 9223372036854775807 0 4 1 7 echox{}",
  ])
  func worker_thatAsksForNonsense_isAnswered(frames: String) throws {
    let result = try IsolatedResult.of(frames + "\nframe 8 0 0 0 0 0\nexit 0", worker: Self.liar.get())
    #expect(result.outcome == .script(.done))
  }

  @Test func worker_withoutTheFilter_isNotUsedUnlessAllowed() throws {
    let script = "frame 8 0 0 0 0 0\nexit 0"
    let refused = try IsolatedResult.of(script, worker: Self.bare.get())
    #expect(refused.end?.kind == .unprotected && refused.end?.message.contains("--without-seccomp") == true)
    #expect(try IsolatedResult.of(script, worker: Self.bare.get(), { $0.allowsMissingFilter = true }).outcome == .script(.done))
  }

  @Test func worker_thatExitsEarly_isSaid() throws {
    let result = try IsolatedResult.of("exit 3", worker: Self.liar.get())
    #expect(result.end?.kind == .exited && result.end?.message.contains("status 3") == true)
  }

  @Test func worker_thatTellsOfASystemCall_isSaid() throws {
    let execve = try #require((0..<512).first { tureen_system_call_name($0).map { String(cString: $0) } == "execve" })
    let result = try IsolatedResult.of("trap \(execve)", worker: Self.liar.get())
    #expect(result.end?.kind == .systemCall && result.end?.message.contains("'execve'") == true, "\(result.outcome)")
  }

  /// One that leaves the socket and goes on, one that does not exit, one that is stopped when its script has ended.
  @Test(arguments: ["close\nspin", "frame 8 0 0 0 0 0\nspin", "frame 8 0 0 0 0 0\nstop"])
  func worker_thatDoesNotExit_isKilled(frames: String) throws {
    let result = try IsolatedResult.of(frames, worker: Self.liar.get())
    #expect(result.end?.kind == .unresponsive, "\(result.outcome)")
  }

  /// It takes no answers: the calls it may have under way are bounded, and so is what waits for it.
  @Test func worker_thatFloodsUs_isHeldUpAndEnded() throws {
    let result = try IsolatedResult.of("flood 1000000", worker: Self.liar.get(), { $0.limits.timeMs = 500 })
    #expect(result.limit == .time, "\(result.outcome)")
  }

  @Test func worker_readyWithoutAScript_isEndedWhenItIsInterrupted() throws {
    let result = try IsolatedResult.of("", worker: Self.liar.get(), watching: { $0.interrupt() })
    #expect(result.end?.kind == .unresponsive, "\(result.outcome)")
  }

  /// Behind the walls: what an attacker with all of the process would try.
  @Test func walls_attacks_comeToNothing() throws {
    let program = try Isolation.compile("attacks", with: ["wall.c", "system_call_wall.c"])
    let ended = try ChildProcess.run([program])
    #expect(ended.status == 0)
    let harmless = ["use memory: done", "tell the time: done", "eat memory: refused", "abort: signal \(SIGABRT)"]
    let lines = ended.output.split(separator: "\n").map(String.init)
    #expect(lines.count >= 28 && Set(harmless).isSubset(of: lines), "\(ended.output)")
    for line in lines where !harmless.contains(line) { #expect(line.hasSuffix(": signal \(SIGSYS)"), "\(line)") }
  }

  /// Every system call of the machine, against the list of security.md.
  @Test func walls_everySystemCall_isAllowedOrNotAsListed() throws {
    let program = try Isolation.compile("attacks", with: ["wall.c", "system_call_wall.c"])
    let ended = try ChildProcess.run([program, "calls"])
    #expect(ended.status == 0 && ended.output == "the others are refused\n", "\(ended.output)")
  }

  /// What is left where a container forbids the filter, as security.md says it.
  @Test func walls_withoutTheFilter_keepWhatTheirLayersKeep() throws {
    let program = try Isolation.compile("attacks", with: ["wall.c", "system_call_wall.c"])
    let ended = try ChildProcess.run([program, "layers"]), lines = ended.output.split(separator: "\n").map(String.init)
    let layers = Int32(lines.first?.dropFirst("layers ".count) ?? "") ?? 0
    #expect(layers & Int32(TUREEN_LAYER_RLIMITS) != 0, "\(ended.output)")
    var refused = ["write a file", "eat memory", "trace a process"]
    if layers & Int32(TUREEN_LAYER_LANDLOCK) != 0 { refused += ["open a file", "list a folder"] }
    // No limit of processes applies to root.
    if geteuid() != 0 { refused.append("fork") }
    for attempt in refused { #expect(lines.contains("\(attempt): refused"), "\(ended.output)") }
  }
}

/// Frames as bytes, without a process.
@Suite struct WorkerFrameTests {
  private func frame(_ kind: UInt32, _ body: String) -> [UInt8] {
    let header = tureen_frame(length: UInt32(body.utf8.count), kind: kind, number: 1, part: (1, 2, 3, 4))
    return withUnsafeBytes(of: header) { Array($0) } + Array(body.utf8)
  }

  @Test(arguments: [1, 7, 33, 1000])
  func reader_anyPieces_givesTheSameFrames(size: Int) throws {
    let bytes = frame(2, "abc") + frame(3, "") + frame(7, String(repeating: "x", count: 100))
    var reader = WorkerFrameReader(), bodies: [Int] = []
    for from in stride(from: 0, to: bytes.count, by: size) {
      bytes[from..<min(from + size, bytes.count)].withUnsafeBytes { reader.append($0) }
      while let frame = try reader.next() { bodies.append(frame.body.count) }
    }
    #expect(bodies == [3, 0, 100] && reader.pending == 0)
  }

  @Test func reader_wrongHeader_isRefusedBeforeItsBodyComes() {
    var reader = WorkerFrameReader()
    let header = tureen_frame(length: 64 << 20 + 1, kind: 2, number: 1, part: (0, 0, 0, 0))
    withUnsafeBytes(of: header) { reader.append($0) }
    #expect(throws: WorkerViolation.self) { try reader.next() }
  }
}
