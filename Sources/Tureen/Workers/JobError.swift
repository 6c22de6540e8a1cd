import LuaBridge
import PostgresStore

/// Why a command about jobs failed.
public struct JobError: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Code: String, CaseIterable, Sendable {
    case noSuchJob, jobExists
    /// A worker is running the job.
    case jobIsRunning
    /// A name, an interval, a time or an argument of the job cannot be used; the message names it.
    case invalidJob
    /// The database cannot be reached at the moment.
    case unavailable
    /// The database refused; the message says why.
    case database
  }

  public let code: Code
  public let message: String

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { message }

  /// Converts the errors of PostgreSQL; passes on others.
  static func converting(_ error: any Error) -> any Error {
    guard let error = error as? PostgresError else { return error }
    switch error.code {
    case .noSuchJob: return JobError(.noSuchJob, error.message)
    case .jobExists: return JobError(.jobExists, error.message)
    case .jobIsRunning: return JobError(.jobIsRunning, error.message)
    case .invalidJob: return JobError(.invalidJob, error.message)
    default: return JobError(error.isRetryable ? .unavailable : .database, error.message)
    }
  }
}

extension JobError: BridgeErrorConvertible {
  public var bridgeError: BridgeError {
    BridgeError(domain: "jobs", code: code.rawValue, message: message, isRetryable: code == .unavailable)
  }
}
