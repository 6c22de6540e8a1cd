import CChildProcess
import Dispatch
import Glibc
import Synchronization

/// A run of a script for a job: a `tureen run` in a process of its own, which ends together with the worker.
final class ScriptAttempt: JobAttempt {
  private struct State {
    /// The process until it is reaped; its id may then belong to another one.
    var process: pid_t?
    var isStopping = false
  }

  private let state = Mutex(State())
  private let onEnd: @Sendable (AttemptEnd) -> Void

  init(onEnd: @escaping @Sendable (AttemptEnd) -> Void) { self.onEnd = onEnd }

  /// Starts the program. Call it on a thread that lives as long as the worker: the kernel ends the process with its thread.
  /// - Parameters:
  ///   - words: The program's path and its arguments.
  ///   - additions: Variables to add to this process's environment.
  func begin(_ words: [String], _ additions: [String: String]) {
    let (process, failure) = ScriptAttempt.start(words, additions)
    guard failure == 0 else {
      return onEnd(.failed("the script cannot be started: \(String(cString: strerror(failure)))", isFinal: false))
    }
    let isStopping = state.withLock { state in
      state.process = process
      return state.isStopping
    }
    if isStopping { stop() }
    DispatchQueue(label: "tureen.worker.script").async { self.waitForEnd(process) }
  }

  /// - Returns: The process, or an errno.
  private static func start(_ words: [String], _ additions: [String: String]) -> (process: pid_t, failure: Int32) {
    var variables: [String: String] = [:], i = 0
    while let entry = environ[i] {
      let parts = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
      i += 1
    }
    variables.merge(additions) { $1 }
    let arguments = (["tureen"] + words.dropFirst()).map { strdup($0) } + [nil]
    let environment = variables.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in arguments + environment { free(text) } }
    var process: pid_t = 0
    let failure = BusyProgram.start { tureen_child_start(words[0], arguments, environment, &process) }
    return (process, failure)
  }

  /// Waits without reaping, and reaps under the lock, so that no signal goes to another process with the same id. Programs that
  /// the script has left behind end first: the job may begin again elsewhere.
  private func waitForEnd(_ process: pid_t) {
    var info = siginfo_t()
    while waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    var status: Int32 = 0
    let isStopping = state.withLock { state in
      kill(-process, SIGKILL)
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      state.process = nil
      return state.isStopping
    }
    onEnd(AttemptEnd(scriptStatus: status, isStopping: isStopping))
  }

  // MARK: JobAttempt

  func stop() { signal(SIGTERM) }

  /// Also ends the programs that the script has started.
  func end() {
    state.withLock { state in
      state.isStopping = true
      if let process = state.process { kill(-process, SIGKILL) }
    }
  }

  private func signal(_ number: Int32) {
    state.withLock { state in
      // A second SIGTERM would end the script at once.
      let isFirst = !state.isStopping
      state.isStopping = true
      if isFirst, let process = state.process { kill(process, number) }
    }
  }
}

extension AttemptEnd {
  /// - Parameters:
  ///   - status: As waitpid gives it.
  ///   - isStopping: True if the worker has asked for the end, which is then the reason.
  init(scriptStatus status: Int32, isStopping: Bool) {
    let number = status & 0x7f, code = status >> 8 & 0xff
    if status == 0 {
      self = .done(counts: [:])
    } else if isStopping {
      self = .stopped
    } else if number != 0 {
      self = .failed("signal \(number) ended the script", isFinal: false)
    } else {
      let meaning: String? =
        switch code {
        case 66: "it cannot be read"
        case 67: "a sign-in is needed"
        case 75: "try again later"
        case 77: "it reached a limit"
        case 78: "a configuration file is wrong"
        default: nil
        }
      self = .failed(
        "the script ended with status \(code)\(meaning.map { " (\($0))" } ?? ""); the worker's log has its messages",
        isFinal: false)
    }
  }
}
