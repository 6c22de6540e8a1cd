import Foundation
import Glibc

/// A child process whose output is read as it comes. Killed when the test lets go of it, or after `seconds`.
final class Child: @unchecked Sendable {  // all mutable state is touched with `lock` held
  struct Ended: Sendable {
    /// The exit status; 128 and the signal's number when a signal ended it.
    let status: Int32
    let output: String
    let errors: String
  }

  struct StartError: Error {
    let call: String
    let code: Int32
  }

  private struct Waiter {
    let isSatisfied: (Child) -> Bool
    let resume: () -> Void
  }

  private static let spawning = NSLock()
  private let lock = NSLock()
  private var id: pid_t = 0
  private var output = Data(), errors = Data()
  private var status: Int32?
  /// Both outputs and the process itself.
  private var unfinished = 3
  private var waiters: [Waiter] = []

  /// Starts a program with an environment that holds nothing but these variables and what every program needs.
  init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], in directory: String,
    seconds: Double = 300
  ) throws {
    let inherited = ProcessInfo.processInfo.environment
    var variables = environment
    for name in ["PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS"] { variables[name] = inherited[name] }
    // Alone: a pipe another child inherited would not end with this one.
    let ends = try Child.spawning.withLock {
      let out = try Child.pipe(), err = try Child.pipe()
      defer { for end in [out.write, err.write] { close(end) } }
      id = try Child.spawn(
        ["/usr/bin/env", "-C", directory, program] + arguments, variables.map { "\($0)=\($1)" }, output: out.write,
        errors: err.write)
      return (output: out.read, errors: err.read)
    }
    read(ends.output) { $0.output.append($1) }
    read(ends.errors) { $0.errors.append($1) }
    reap(id)
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in self?.send(SIGKILL) }
  }

  deinit { if status == nil { kill(id, SIGKILL) } }

  /// Nothing happens when it has ended: its number may be another's by then.
  func send(_ signal: Int32) { lock.withLock { if status == nil { _ = kill(id, signal) } } }

  /// Waits until the output holds this text.
  /// - Returns: False when the process ended without it.
  func prints(_ text: String) async -> Bool {
    await wait { $0.unfinished == 0 || $0.text(of: $0.output).contains(text) }
    return printed.contains(text)
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

  private static func pipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    guard Glibc.pipe(&ends) == 0 else { throw StartError(call: "pipe", code: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// Foundation's `Process` now and then misses the end of a child when many run at once.
  private static func spawn(
    _ arguments: [String], _ environment: [String], output: Int32, errors: Int32
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t(), attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_adddup2(&actions, errors, 2)
    var none = sigset_t(), usual = sigset_t()
    sigemptyset(&none)
    sigfillset(&usual)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &usual)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var argv = arguments.map { strdup($0) } + [nil], envp = environment.map { strdup($0) } + [nil]
    defer { for text in argv + envp { free(text) } }
    var id: pid_t = 0
    let code = posix_spawn(&id, arguments[0], &actions, &attributes, &argv, &envp)
    guard code == 0 else { throw StartError(call: arguments[0], code: code) }
    return id
  }

  private func read(_ end: Int32, _ take: @escaping @Sendable (Child, Data) -> Void) {
    Thread.detachNewThread { [self] in
      var chunk = [UInt8](repeating: 0, count: 65536)
      while true {
        let count = Glibc.read(end, &chunk, chunk.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { break }
        let data = Data(chunk[..<count])
        change { take($0, data) }
      }
      close(end)
      change { $0.unfinished -= 1 }
    }
  }

  private func reap(_ id: pid_t) {
    Thread.detachNewThread { [self] in
      var info = siginfo_t()
      // Looked at first and taken away with the lock held: nobody sends a signal to whoever gets the number next.
      while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
      change { child in
        var status: Int32 = 0
        waitpid(id, &status, 0)
        child.status = status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
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
