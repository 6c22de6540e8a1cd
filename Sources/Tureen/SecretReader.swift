@preconcurrency import Glibc
import Support

/// Reads secrets from files, environment variables and programs. Errors do not quote any part of the secret.
enum SecretReader {
  /// A failure. The message follows the name of the source.
  struct Problem: Error {
    let what: String

    init(_ what: String) { self.what = what }

    static func system(_ verb: String, _ code: Int32) -> Problem { Problem("\(verb): \(String(cString: strerror(code)))") }
  }

  /// Reads a file or a pipe, without one trailing line break.
  static func file(_ path: String, limit: Int = Tuning.secretBytes) throws(Problem) -> Secret {
    // Do not wait until the other end of a pipe is opened.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .system("cannot be read", errno) }
    defer { close(descriptor) }
    let secret = try read(descriptor, until: deadline(Tuning.keyFileTimeoutMs), limit)
    secret.dropLineBreak()
    return try checked(secret)
  }

  /// Copies the exact value of an environment variable. nil means that it is not set.
  static func variable(_ value: UnsafePointer<CChar>?, limit: Int = Tuning.secretBytes) throws(Problem) -> Secret {
    guard let value else { throw Problem("it is not set") }
    let length = strlen(value), secret = Secret(capacity: limit)
    guard length <= limit else { throw tooLong(limit) }
    secret.rest.copyMemory(from: UnsafeRawBufferPointer(start: value, count: length))
    secret.add(length)
    return try checked(secret)
  }

  /// Reads the output of a program, without one trailing line break. The program is searched in `PATH`, has no standard input,
  /// inherits standard error, and is killed when the timeout expires.
  static func command(
    _ words: [String], timeoutMs: Int64, limit: Int = Tuning.secretBytes
  ) throws(Problem) -> Secret {
    let end = deadline(timeoutMs)
    let child = try start(words)
    defer { close(child.output) }
    let secret: Secret
    do {
      secret = try read(child.output, until: end, limit)
    } catch {
      stop(child.id)
      throw error
    }
    try waitForSuccess(child.id, until: end)
    secret.dropLineBreak()
    return try checked(secret)
  }

  private static func checked(_ secret: Secret) throws(Problem) -> Secret {
    guard secret.count > 0 else { throw Problem("it is empty") }
    return secret
  }

  private static func tooLong(_ limit: Int) -> Problem { Problem("it is longer than \(limit - 2) bytes") }

  // MARK: Reading

  private static func deadline(_ milliseconds: Int64) -> Int64 { SystemClock.monotonicMilliseconds() + milliseconds }

  /// Reads up to the end of a file or pipe.
  private static func read(_ descriptor: Int32, until end: Int64, _ limit: Int) throws(Problem) -> Secret {
    let secret = Secret(capacity: limit)
    while true {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let left = end - SystemClock.monotonicMilliseconds()
      guard left > 0 else { throw Problem("it took too long") }
      let ready = poll(&waiting, 1, Int32(clamping: left))
      if ready < 0, errno != EINTR { throw .system("cannot be read", errno) }
      guard ready > 0 else { continue }
      let rest = secret.rest
      guard rest.count > 0 else { throw tooLong(limit) }
      let count = Glibc.read(descriptor, rest.baseAddress, rest.count)
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count >= 0 else { throw .system("cannot be read", errno) }
      if count == 0 { return secret }
      secret.add(count)
    }
  }

  // MARK: The program

  private static func start(_ words: [String]) throws(Problem) -> (id: pid_t, output: Int32) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw .system("cannot be run", errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[1]) }
    var actions = posix_spawn_file_actions_t(), attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    // The host may block or ignore signals; the program must start with the defaults.
    var none = sigset_t(), all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var arguments = words.map { strdup($0) } + [nil]
    defer { for word in arguments { free(word) } }
    var id: pid_t = 0
    let code = BusyProgram.start { posix_spawnp(&id, words[0], &actions, &attributes, &arguments, environ) }
    guard code == 0 else {
      close(ends[0])
      throw .system("cannot be run", code)
    }
    return (id, ends[0])
  }

  private static func waitForSuccess(_ id: pid_t, until end: Int64) throws(Problem) {
    var status: Int32 = 0
    while true {
      switch waitpid(id, &status, WNOHANG) {
      case id:
        guard status == 0 else { throw Problem(ending(status)) }
        return
      case 0: break
      default:
        if errno == EINTR { continue }
        throw Problem("how it ended cannot be known, as this program ignores SIGCHLD")
      }
      guard SystemClock.monotonicMilliseconds() < end else {
        stop(id)
        throw Problem("it took too long")
      }
      usleep(2000)
    }
  }

  private static func ending(_ status: Int32) -> String {
    let signal = status & 0x7f
    return signal == 0 ? "it ended with status \((status >> 8) & 0xff)" : "signal \(signal) ended it"
  }

  private static func stop(_ id: pid_t) {
    kill(id, SIGKILL)
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
  }
}
