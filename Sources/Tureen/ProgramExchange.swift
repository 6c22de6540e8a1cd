@preconcurrency import Glibc
import Support

/// Runs a program with text on its standard input and returns its output. Searches `PATH` and does not use a shell.
enum ProgramExchange {
  /// A failure. The message follows the program's name.
  struct Problem: Error, CustomStringConvertible {
    let description: String

    /// True if the program took too long.
    var isTimeout: Bool { description == Problem.tooLate.description }

    init(_ description: String) { self.description = description }

    static let tooLate = Problem("took too long")

    static func system(_ code: Int32) -> Problem { Problem("cannot be run: \(String(cString: strerror(code)))") }
  }

  /// The output of a program.
  struct Output {
    /// The exit status; nil if a signal ended it.
    var status: Int32?
    var text: [UInt8] = []
    /// The beginning of its standard error.
    var errors: [UInt8] = []
  }

  /// The maximum bytes of standard error to keep.
  private static let keptErrors = 4 * 1024

  /// Runs a program. Blocks; kills the program when the timeout expires.
  /// - Parameters:
  ///   - limit: The maximum bytes of output.
  ///   - endsAsGroup: True to run it in its own process group and kill its children with it. Such a program cannot read from the
  ///     terminal.
  static func run(
    _ words: [String], input: [UInt8], timeoutMs: Int64, limit: Int, endsAsGroup: Bool = false
  ) throws(Problem) -> Output {
    let end = SystemClock.monotonicMilliseconds() + timeoutMs
    let child = try Child(words, isGroup: endsAsGroup)
    defer { child.close() }
    var output = Output()
    do {
      try child.exchange(input, into: &output, until: end, limit)
      output.status = try child.waitForEnd(until: end)
    } catch {
      child.kill()
      throw error
    }
    return output
  }

  /// A running program and our ends of its streams.
  private final class Child {
    private let id: pid_t
    private let isGroup: Bool
    /// Descriptors of our ends; -1 once closed.
    private var input: Int32, output: Int32, errors: Int32

    init(_ words: [String], isGroup: Bool) throws(Problem) {
      var ends: [Int32] = []
      for _ in 0..<3 {
        var pair: [Int32] = [0, 0]
        guard pipe(&pair) == 0 else {
          let code = errno
          for end in ends { Glibc.close(end) }
          throw .system(code)
        }
        ends += pair
        for end in pair { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      }
      (input, output, errors) = (ends[1], ends[2], ends[4])
      self.isGroup = isGroup
      let theirs = [ends[0], ends[3], ends[5]]
      defer { for end in theirs { Glibc.close(end) } }
      do {
        id = try Self.spawn(words, theirs, isGroup)
      } catch {
        for end in [ends[1], ends[2], ends[4]] { Glibc.close(end) }
        throw error
      }
      for end in [input, output, errors] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    }

    private static func spawn(_ words: [String], _ streams: [Int32], _ isGroup: Bool) throws(Problem) -> pid_t {
      var actions = posix_spawn_file_actions_t(), attributes = posix_spawnattr_t()
      posix_spawn_file_actions_init(&actions)
      posix_spawnattr_init(&attributes)
      defer {
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
      }
      for (number, stream) in streams.enumerated() { posix_spawn_file_actions_adddup2(&actions, stream, Int32(number)) }
      // The host may block or ignore signals; the program must start with the defaults.
      var none = sigset_t(), all = sigset_t()
      sigemptyset(&none)
      sigfillset(&all)
      posix_spawnattr_setsigmask(&attributes, &none)
      posix_spawnattr_setsigdefault(&attributes, &all)
      let group = isGroup ? POSIX_SPAWN_SETPGROUP : 0
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group))
      var arguments = words.map { strdup($0) } + [nil]
      defer { for word in arguments { free(word) } }
      var id: pid_t = 0
      let code = BusyProgram.start { posix_spawnp(&id, words[0], &actions, &attributes, &arguments, environ) }
      guard code == 0 else { throw .system(code) }
      return id
    }

    func close() {
      for end in [input, output, errors] where end >= 0 { Glibc.close(end) }
      (input, output, errors) = (-1, -1, -1)
    }

    func kill() {
      Glibc.kill(isGroup ? -id : id, SIGKILL)
      var status: Int32 = 0
      while waitpid(id, &status, 0) < 0, errno == EINTR {}
    }

    // MARK: Streams

    /// Writes the input and reads the output until the program has closed both of its output streams.
    func exchange(_ text: [UInt8], into result: inout Output, until end: Int64, _ limit: Int) throws(Problem) {
      var written = 0
      if text.isEmpty { closeInput() }
      while output >= 0 || errors >= 0 {
        var waiting = [
          pollfd(fd: output, events: Int16(POLLIN), revents: 0), pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
          pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
        ]
        let left = end - SystemClock.monotonicMilliseconds()
        guard left > 0 else { throw .tooLate }
        let ready = poll(&waiting, 3, Int32(clamping: left))
        if ready < 0, errno != EINTR { throw .system(errno) }
        guard ready > 0 else { continue }
        if waiting[0].revents != 0 { try read(&output, into: &result.text, atMost: limit, isCut: false) }
        if waiting[1].revents != 0 { try read(&errors, into: &result.errors, atMost: keptErrors, isCut: true) }
        if waiting[2].revents != 0 { write(text, &written) }
      }
    }

    private func read(_ stream: inout Int32, into text: inout [UInt8], atMost limit: Int, isCut: Bool) throws(Problem) {
      var chunk = [UInt8](repeating: 0, count: 16 * 1024)
      let count = Glibc.read(stream, &chunk, chunk.count)
      if count < 0, errno == EINTR || errno == EAGAIN { return }
      guard count > 0 else {
        Glibc.close(stream)
        stream = -1
        return
      }
      guard isCut || text.count + count <= limit else { throw Problem("printed more than \(limit) bytes") }
      text += chunk[..<min(count, max(0, limit - text.count))]
    }

    private func write(_ text: [UInt8], _ written: inout Int) {
      let count = Self.withoutPipeSignal { text[written...].withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) } }
      if count < 0, errno == EINTR || errno == EAGAIN { return }
      written += max(0, count)
      // A program that does not read its input may close it early. Its output and status show whether it succeeded.
      if count < 0 || written == text.count { closeInput() }
    }

    private func closeInput() {
      if input >= 0 { Glibc.close(input) }
      input = -1
    }

    /// Runs `body` with SIGPIPE suppressed on this thread, independent of the process's handler. Preserves `errno` of `body`.
    private static func withoutPipeSignal(_ body: () -> Int) -> Int {
      var pipe = sigset_t(), before = sigset_t(), pending = sigset_t()
      sigemptyset(&pipe)
      sigaddset(&pipe, SIGPIPE)
      sigpending(&pending)
      let wasPending = sigismember(&pending, SIGPIPE) == 1
      pthread_sigmask(SIG_BLOCK, &pipe, &before)
      let count = body(), code = errno
      if count < 0, code == EPIPE, !wasPending {
        var none = timespec(tv_sec: 0, tv_nsec: 0)
        while sigtimedwait(&pipe, nil, &none) < 0, errno == EINTR {}
      }
      pthread_sigmask(SIG_SETMASK, &before, nil)
      errno = code
      return count
    }

    /// - Returns: The exit status; nil if a signal ended it.
    func waitForEnd(until end: Int64) throws(Problem) -> Int32? {
      var status: Int32 = 0
      while true {
        switch waitpid(id, &status, WNOHANG) {
        case id: return status & 0x7f == 0 ? (status >> 8) & 0xff : nil
        case 0: break
        default:
          if errno == EINTR { continue }
          throw Problem("ended, and how cannot be known, as this program ignores SIGCHLD")
        }
        guard SystemClock.monotonicMilliseconds() < end else { throw .tooLate }
        usleep(2000)
      }
    }
  }
}
