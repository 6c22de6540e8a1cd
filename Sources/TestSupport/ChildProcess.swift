import Glibc
import Synchronization

/// A program that a test starts, with the ends of its pipes.
///
/// Foundation's `Process` is not used: with many open descriptors it reads past the end of its list
/// of them and crashes, and with many children it sometimes misses that one has exited.
public struct ChildProcess: Sendable {
  public struct StartError: Error {
    public let program: String
    public let code: Int32
  }

  /// The result of a program.
  public struct Ended: Sendable {
    /// The exit status, or 128 plus the signal's number if a signal ended the program.
    public let status: Int32
    public let output: String
  }

  /// Where standard error goes.
  public enum Errors: Sendable { case withOutput, apart, inherited }

  public let id: pid_t
  /// Descriptors that the reader or writer closes; -1 for a stream that was not requested.
  public let input: Int32, output: Int32, errors: Int32

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - arguments: The program's path, then its arguments.
  ///   - environment: The complete environment; nil inherits this process's.
  ///   - takesInput: Makes `input` a pipe to the program; otherwise it reads `inputFile`.
  ///   - terminal: The path of a terminal, which becomes all its streams, in a session of its own,
  ///     instead of pipes.
  public static func start(
    _ arguments: [String], environment: [String: String]? = nil, takesInput: Bool = false,
    inputFile: String = "/dev/null", terminal: String? = nil, errors: Errors = .withOutput
  ) throws -> ChildProcess {
    try startLock.withLock { _ in
      if let terminal { return try startLocked(arguments, environment, terminal) }
      return try startLocked(arguments, environment, takesInput, inputFile, errors)
    }
  }

  /// Held while a child starts: if another child inherited a pipe, the pipe would stay open after
  /// its own child ends.
  private static let startLock = Mutex(())

  private static func startLocked(
    _ arguments: [String], _ environment: [String: String]?, _ takesInput: Bool, _ inputFile: String,
    _ errors: Errors
  ) throws -> ChildProcess {
    let input = takesInput ? try pipe(arguments[0]) : nil, output = try pipe(arguments[0])
    let apart = errors == .apart ? try pipe(arguments[0]) : nil
    defer { for end in [input?.read, output.write, apart?.write] { if let end { close(end) } } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input {
      posix_spawn_file_actions_adddup2(&actions, input.read, 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, inputFile, O_RDONLY, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, output.write, 1)
    if errors != .inherited { posix_spawn_file_actions_adddup2(&actions, apart?.write ?? output.write, 2) }
    do {
      let id = try spawn(arguments, environment, &actions)
      return ChildProcess(id: id, input: input?.write ?? -1, output: output.read, errors: apart?.read ?? -1)
    } catch {
      for end in [input?.write, output.read, apart?.read] { if let end { close(end) } }
      throw error
    }
  }

  /// Starts a program on a terminal. The first terminal that a session leader opens becomes its
  /// controlling one.
  private static func startLocked(
    _ arguments: [String], _ environment: [String: String]?, _ terminal: String
  ) throws -> ChildProcess {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
    for stream in [1, 2] as [Int32] { posix_spawn_file_actions_adddup2(&actions, 0, stream) }
    return ChildProcess(
      id: try spawn(arguments, environment, &actions, flags: leadsSession), input: -1, output: -1, errors: -1)
  }

  /// glibc's POSIX_SPAWN_SETSID, which Swift does not import.
  private static let leadsSession: Int16 = 0x80

  /// glibc's posix_spawn_file_actions_addclosefrom_np (since 2.34), which Swift does not import.
  private static let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
    unsafeBitCast($0, to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self)
  }

  private static func spawn(
    _ arguments: [String], _ environment: [String: String]?, _ actions: inout posix_spawn_file_actions_t, flags: Int16 = 0
  ) throws -> pid_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t(), usual = sigset_t()
    sigemptyset(&none)
    sigfillset(&usual)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &usual)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | flags)
    // Do not let the child inherit sockets: they would stay open when this process closes them.
    _ = closeFrom?(&actions, 3)
    var argv = arguments.map { strdup($0) } + [nil]
    var envp = environment.map { $0.map { strdup("\($0)=\($1)") } + [nil] }
    defer { for text in argv + (envp ?? []) { free(text) } }
    var id: pid_t = 0
    let code =
      envp == nil
      ? posix_spawn(&id, arguments[0], &actions, &attributes, &argv, environ)
      : posix_spawn(&id, arguments[0], &actions, &attributes, &argv, &envp!)
    guard code == 0 else { throw StartError(program: arguments[0], code: code) }
    return id
  }

  /// Runs a program to its end and collects both of its output streams. Blocks.
  public static func run(_ arguments: [String], environment: [String: String]? = nil) throws -> Ended {
    let child = try start(arguments, environment: environment)
    defer { close(child.output) }
    var text: [UInt8] = []
    while let more = read(child.output) { text += more }
    return Ended(status: child.wait(), output: String(decoding: text, as: UTF8.self))
  }

  /// Reads the next bytes of a stream; nil at its end. Blocks.
  public static func read(_ stream: Int32) -> [UInt8]? {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(stream, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      return count > 0 ? Array(chunk[..<count]) : nil
    }
  }

  /// Waits for the program to end and reaps it. Call once. Blocks.
  public func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
    return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
  }

  private static func pipe(_ program: String) throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    guard Glibc.pipe(&ends) == 0 else { throw StartError(program: program, code: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}
