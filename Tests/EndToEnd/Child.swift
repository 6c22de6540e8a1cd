import Foundation
import Glibc
import TestSupport

/// A child process whose output is read as it comes. Killed when the test lets go of it, or after `seconds`.
final class Child: @unchecked Sendable {  // all mutable state is touched with `lock` held
  struct Ended: Sendable {
    /// The exit status; 128 and the signal's number when a signal ended it.
    let status: Int32
    let output: String
    let errors: String

    /// The error stream without progress: a sync that takes longer than ten seconds, as on a busy machine, shows it there.
    var complaints: String {
      errors.split(separator: "\n").filter { $0.firstMatch(of: #/^tureen: sync '[^']*': /#) == nil }.joined(separator: "\n")
    }
  }

  private struct Waiter {
    let isSatisfied: (Child) -> Bool
    let resume: () -> Void
  }

  private let lock = NSLock()
  private let id: pid_t
  /// The other end of the child's terminal; -1 without one.
  private let keyboard: Int32
  private var output = Data(), errors = Data()
  private var status: Int32?
  /// The outputs and the process itself.
  private var unfinished: Int
  private var waiters: [Waiter] = []

  /// Seconds until a child that has not ended is killed. Under a sanitizer everything takes its time.
  static let limit = ProcessInfo.processInfo.environment["TUREEN_CHILD_SECONDS"].flatMap { Double($0) } ?? 900

  /// Starts a program with an environment that holds nothing but these variables and what every program needs.
  /// - Parameters:
  ///   - input: A file that is its standard input; none when nil.
  ///   - terminal: Given, the child talks to a terminal of its own: `type` writes to it, `printed` is what it shows.
  init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], in directory: String, input: String? = nil,
    terminal: Terminal? = nil, seconds: Double = Child.limit
  ) throws {
    let inherited = ProcessInfo.processInfo.environment
    var variables = environment
    for name in ["PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS"] { variables[name] = inherited[name] }
    if program == Built.lua { variables["LD_PRELOAD"] = Built.sanitizerRuntime }
    let ends = try terminal?.open()
    if terminal != nil { variables["TERM"] = "xterm" }
    let process = try ChildProcess.start(
      ["/usr/bin/env", "-C", directory, program] + arguments, environment: variables, inputFile: input ?? "/dev/null",
      terminal: ends?.name, errors: .apart)
    id = process.id
    keyboard = ends?.master ?? -1
    unfinished = ends == nil ? 3 : 2
    if let ends {
      read(ends.master) { $0.output.append($1) }
    } else {
      read(process.output) { $0.output.append($1) }
      read(process.errors) { $0.errors.append($1) }
    }
    reap(process)
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in self?.send(SIGKILL) }
  }

  /// Presses keys; nothing happens when the child has ended.
  func type(_ keys: String) {
    lock.withLock {
      guard status == nil else { return }
      _ = Array(keys.utf8).withUnsafeBytes { write(keyboard, $0.baseAddress, $0.count) }
    }
  }

  /// Gives the child's terminal another width.
  func resize(columns: UInt16) {
    lock.withLock {
      var size = winsize(ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
      _ = ioctl(keyboard, UInt(TIOCSWINSZ), &size)
    }
  }

  deinit { if status == nil { kill(id, SIGKILL) } }

  /// Nothing happens when it has ended: its number may be another's by then.
  func send(_ signal: Int32) { lock.withLock { if status == nil { _ = kill(id, signal) } } }

  /// Waits until a signal has suspended it; false when it ended instead.
  func isSuspended() async -> Bool {
    let id = lock.withLock { self.id }
    return await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var info = siginfo_t()
        var code: Int32 = -1
        repeat { code = waitid(P_PID, id_t(id), &info, WSTOPPED | WEXITED | WNOWAIT) } while code != 0 && errno == EINTR
        continuation.resume(returning: code == 0 && Int(info.si_code) == Int(CLD_STOPPED))
      }
    }
  }

  /// Waits until the output holds this text.
  /// - Returns: False when the process ended without it.
  func prints(_ text: String) async -> Bool {
    await wait { $0.unfinished == 0 || $0.text(of: $0.output).contains(text) }
    return printed.contains(text)
  }

  /// Waits for a text, and then for another behind the last place where it stands.
  func prints(_ text: String, then next: String) async -> Bool {
    func holds(_ printed: String) -> Bool {
      printed.range(of: text, options: .backwards).map { printed[$0.upperBound...].contains(next) } ?? false
    }
    await wait { $0.unfinished == 0 || holds($0.text(of: $0.output)) }
    return holds(printed)
  }

  /// What was printed so far.
  var printed: String { lock.withLock { text(of: output) } }

  /// Waits for the end.
  func ended() async -> Ended {
    await wait { $0.unfinished == 0 }
    return lock.withLock { Ended(status: status ?? -1, output: text(of: output), errors: text(of: errors)) }
  }

  private func text(of data: Data) -> String { String(decoding: data, as: UTF8.self) }

  // MARK: The process

  // The threads do not keep the child: when the test lets go of it, it is killed, and they end with it.

  private func read(_ end: Int32, _ take: @escaping @Sendable (Child, Data) -> Void) {
    Thread.detachNewThread { [weak self] in
      while let chunk = ChildProcess.read(end) { self?.change { take($0, Data(chunk)) } }
      close(end)
      self?.change { $0.unfinished -= 1 }
    }
  }

  private func reap(_ process: ChildProcess) {
    Thread.detachNewThread { [weak self] in
      var info = siginfo_t()
      // Looked at first and taken away with the lock held: nobody sends a signal to whoever gets the number next.
      while waitid(P_PID, id_t(process.id), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
      guard let self else {
        _ = process.wait()
        return
      }
      change { child in
        child.status = process.wait()
        child.unfinished -= 1
      }
    }
  }

  // MARK: Waiting

  private func change(_ body: (Child) -> Void) {
    let ready = lock.withLock { () -> [Waiter] in
      body(self)
      let ready = waiters.filter { $0.isSatisfied(self) }
      waiters.removeAll { $0.isSatisfied(self) }
      return ready
    }
    for waiter in ready { waiter.resume() }
  }

  private func wait(until isSatisfied: @escaping (Child) -> Bool) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let isReady = lock.withLock {
        if isSatisfied(self) { return true }
        waiters.append(Waiter(isSatisfied: isSatisfied) { continuation.resume() })
        return false
      }
      if isReady { continuation.resume() }
    }
  }
}

extension Workplace {
  /// Runs a program to its end.
  func run(_ program: String, _ arguments: [String], environment: [String: String] = [:]) async throws -> Child.Ended {
    try await Child(program, arguments, environment: environment, in: path).ended()
  }

  /// Runs `tureen run` under this home.
  func runScript(
    _ script: String, options: [String] = [], environment: [String: String] = [:]
  ) async throws -> Child.Ended {
    try await startScript(script, options: options, environment: environment).ended()
  }

  func startScript(_ script: String, options: [String] = [], environment: [String: String] = [:]) throws -> Child {
    try Child(Built.tureen, ["run", "--home", home] + options + [script], environment: environment, in: path)
  }
}
