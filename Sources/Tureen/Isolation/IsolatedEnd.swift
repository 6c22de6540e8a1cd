import JSON
import LuaBridge

/// How an isolated script ended.
public enum IsolatedEnd: Sendable, Equatable {
  /// The limits that a script can reach.
  public enum Limit: String, Sendable { case memory, instructions, time }

  case done
  /// `tureen.main` ended the script with this status, 1...255, which the script chose.
  case exited(status: Int32)
  /// The script raised an error, or a call failed without an error callback. The message has the traceback; it is empty if the
  /// errors of callbacks were already printed. `domain` and `code` are empty unless the first error was a `tureen.Error`.
  case failed(message: String, domain: String, code: String)
  /// The file cannot be read or compiled.
  case notRunnable(message: String)
  case limitReached(Limit, message: String)
  /// The script's process ended before the script did. `reason` is one of `notStarted`, `unprotected`, `systemCall`, `violation`,
  /// `killed`, `unresponsive` and `exited`.
  case workerEnded(reason: String, message: String)
  /// The run was interrupted.
  case interrupted

  init(_ outcome: IsolatedOutcome, _ failure: ScriptState.Failure?) {
    switch outcome {
    case .script(.done): self = .done
    case .script(.exited(let status)):
      self =
        if status == 1, let failure { .failed(message: "", domain: failure.domain, code: failure.code) } else {
          .exited(status: status)
        }
    case .script(.failed(let message)):
      self = .failed(message: message, domain: failure?.domain ?? "", code: failure?.code ?? "")
    case .script(.notRunnable(let message)): self = .notRunnable(message: message)
    case .script(.limitReached(let kind, let message)):
      let limit: Limit =
        switch kind {
        case .memory: .memory
        case .instructions: .instructions
        case .time: .time
        }
      self = .limitReached(limit, message: message)
    case .workerEnded(let end): self = .workerEnded(reason: end.kind.rawValue, message: end.message)
    }
  }

  /// The object that `tureen_run_isolated` returns.
  var json: JSONValue {
    switch self {
    case .done: ["end": "done"]
    case .exited(let status): ["end": "exited", "status": .integer(Int64(status))]
    case .failed(let message, let domain, let code):
      ["end": "failed", "message": .string(message), "domain": .string(domain), "code": .string(code)]
    case .notRunnable(let message): ["end": "notRunnable", "message": .string(message)]
    case .limitReached(let limit, let message):
      ["end": "limitReached", "limit": .string(limit.rawValue), "message": .string(message)]
    case .workerEnded(let reason, let message):
      ["end": "workerEnded", "reason": .string(reason), "message": .string(message)]
    case .interrupted: ["end": "interrupted"]
    }
  }
}
