import CIsolation
import Glibc

/// Why a worker process ended before its script did.
public struct WorkerEnd: Sendable, Equatable {
  public enum Kind: String, Sendable {
    /// It could not be started or did not become ready.
    case notStarted
    /// The system cannot filter system calls, and the script must not run without the filter.
    case unprotected
    /// It made a forbidden system call.
    case systemCall
    /// It sent an invalid frame.
    case violation
    /// A signal ended it: its memory was corrupted, or another process killed it.
    case killed
    /// It did not take its answers, did not end with its script, or did not end after an interrupt.
    case unresponsive
    /// It exited without reporting how the script ended.
    case exited
  }

  public let kind: Kind
  /// The message for people.
  public let message: String

  init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    message = "the script was ended with its worker process: \(reason)"
  }

  static func violation(_ violation: WorkerViolation) -> WorkerEnd {
    WorkerEnd(.violation, "the worker sent something that is not a call (\(violation.detail))")
  }

  static func systemCall(_ number: UInt32) -> WorkerEnd {
    let name = tureen_system_call_name(number).map { "'\(String(cString: $0))'" } ?? "number \(number)"
    return WorkerEnd(.systemCall, "it made the system call \(name), which is not allowed")
  }

  static func signal(_ number: Int32) -> WorkerEnd {
    let names = [
      SIGSEGV: "segmentation fault", SIGABRT: "abort", SIGBUS: "bus error", SIGILL: "illegal instruction",
      SIGFPE: "arithmetic error", SIGSYS: "a system call that is not allowed", SIGKILL: "killed, for instance for want of memory",
    ]
    return WorkerEnd(.killed, "signal \(number) ended it" + (names[number].map { " (\($0))" } ?? ""))
  }
}

/// How an isolated script ended.
public enum IsolatedOutcome: Sendable, Equatable {
  /// The script ended normally; a limit that the system enforced counts as reached.
  case script(ScriptState.Outcome)
  /// The worker process ended first.
  case workerEnded(WorkerEnd)

  /// Whether the script did not end by itself. Its calls are then of no use.
  var isByForce: Bool {
    switch self {
    case .script(.limitReached), .workerEnded: true
    case .script: false
    }
  }
}
