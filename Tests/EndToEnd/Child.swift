import Foundation
import Glibc
import TestSupport

/// A child process whose output is read as it arrives. Killed when the test releases it, or after `seconds`.
final class Child: @unchecked Sendable {  // all mutable state is touched with `lock` held
  struct Ended: Sendable {
    /// The exit status; 128 plus the signal's number if a signal ended it.
    let status: Int32
    let output: String
    let errors: String

    /// The error stream without progress lines, which appear on a busy machine when a sync takes longer than ten seconds.
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
  /// The master end of the child's terminal; -1 without one.
  private let keyboard: Int32
  private var output = Data(), errors = Data()
  private var status: Int32?
  /// The number of outputs that are open, plus one while the process runs.
  private var unfinished: Int
  private var waiters: [Waiter] = []

  /// Seconds until a child is killed. Sanitizers make everything slow.
  static let limit = ProcessInfo.processInfo.environment["TUREEN_CHILD_SECONDS"].flatMap { Double($0) } ?? 900

  /// Starts a program with an environment of these variables and those that every program needs.
  /// - Parameters:
  ///   - input: A file for its standard input; nil for none.
  ///   - terminal: If given, the child gets its own terminal: `type` writes to it, `printed` is its output.
  init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], in directory: String, input: String? = nil,
    terminal: Terminal? = nil, seconds: Double = Child.limit
  ) throws {
    let inherited = ProcessInfo.processInfo.environment
    var variables = environment
    for name in ["PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS"] { variables[name] = inherited[name] }
    if Built.isForeign(program) { variables.merge(Built.sanitizerEnvironment) { _, own in own } }
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

  /// Sends keys. Does nothing if the child has ended.
  func type(_ keys: String) {
    lock.withLock {
      guard status == nil else { return }
      _ = Array(keys.utf8).withUnsafeBytes { write(keyboard, $0.baseAddress, $0.count) }
    }
  }

  /// Changes the width of the child's terminal.
  func resize(columns: UInt16) {
    lock.withLock {
      var size = winsize(ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
      _ = ioctl(keyboard, UInt(TIOCSWINSZ), &size)
    }
  }

  deinit { if status == nil { kill(id, SIGKILL) } }

  /// Sends a signal. Does nothing if the child has ended, because its process id may be in use again.
  func send(_ signal: Int32) { lock.withLock { if status == nil { _ = kill(id, signal) } } }

  /// The number of the program's process, once it has printed something: `env` has become the program.
  var processID: pid_t { id }

  /// Waits until a signal has suspended it. Returns false if it ended instead.
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

  /// Waits until the output contains this text.
  /// - Returns: False if the process ended without it.
  func prints(_ text: String) async -> Bool {
    await wait { $0.unfinished == 0 || $0.text(of: $0.output).contains(text) }
    return printed.contains(text)
  }

  /// Waits until the output contains this text so many times.
  /// - Returns: False if the process ended without it.
  func prints(_ text: String, times: Int) async -> Bool {
    func count(_ printed: String) -> Int { printed.components(separatedBy: text).count - 1 }
    await wait { $0.unfinished == 0 || count($0.text(of: $0.output)) >= times }
    return count(printed) >= times
  }

  /// Waits until standard error contains this text.
  /// - Returns: False if the process ended without it.
  func complains(_ text: String) async -> Bool {
    await wait { $0.unfinished == 0 || $0.text(of: $0.errors).contains(text) }
    return lock.withLock { self.text(of: errors) }.contains(text)
  }

  /// Waits for a text, and then for another one after its last occurrence.
  func prints(_ text: String, then next: String) async -> Bool {
    func holds(_ printed: String) -> Bool {
      printed.range(of: text, options: .backwards).map { printed[$0.upperBound...].contains(next) } ?? false
    }
    await wait { $0.unfinished == 0 || holds($0.text(of: $0.output)) }
    return holds(printed)
  }

  /// The output so far.
  var printed: String { lock.withLock { text(of: output) } }

  /// Waits for the end.
  func ended() async -> Ended {
    await wait { $0.unfinished == 0 }
    return lock.withLock { Ended(status: status ?? -1, output: text(of: output), errors: text(of: errors)) }
  }

  private func text(of data: Data) -> String { String(decoding: data, as: UTF8.self) }

  // MARK: The process

  // The threads do not retain the child: when the test releases it, it is killed, and they end with it.

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
      // Wait without reaping, and reap with the lock held, so that no signal goes to another process with the same id.
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

  /// Runs `tureen run` with this home.
  func runScript(
    _ script: String, options: [String] = [], environment: [String: String] = [:]
  ) async throws -> Child.Ended {
    try await startScript(script, options: options, environment: environment).ended()
  }

  func startScript(_ script: String, options: [String] = [], environment: [String: String] = [:]) throws -> Child {
    try Child(Built.tureen, ["run", "--home", home] + options + [script], environment: environment, in: path)
  }
}
