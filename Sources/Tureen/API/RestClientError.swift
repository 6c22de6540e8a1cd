import RestClient

/// Why a request of ``RestClient/RestClient/send(request:)`` gave no answer that can be used.
///
/// - Note: Source: the native SDK's error of the same name; each case keeps what is known here.
public enum RestClientError: Error, Sendable {
  /// No complete answer: refused, timed out, cut off in the middle.
  case noResponse(RestError)
  /// The server answered with an error status; ``message`` is its first message.
  case refused(RestError)
  /// A good status, and no body where one is needed.
  case emptyResponse(status: Int)
  /// A good status with a body that is not what was asked for.
  case undecodableResponse(message: String, body: String)
  /// Nothing was sent: no session, a request that cannot be one, a host that is closed.
  case notSent(message: String, cause: any Error)

  /// For people. The server's own words where it said something.
  public var message: String {
    switch self {
    case .noResponse(let error), .refused(let error): error.message
    case .emptyResponse(let status): "the server answered \(status) without a body"
    case .undecodableResponse(let message, _), .notSent(let message, _): message
    }
  }

  /// The HTTP status, when a server answered.
  public var status: Int? {
    switch self {
    case .refused(let error): error.status
    case .emptyResponse(let status): status
    case .noResponse, .undecodableResponse, .notSent: nil
    }
  }

  /// - Parameter error: What a ``RestClient`` throws.
  init(_ error: any Error) {
    guard let error = error as? RestError else {
      self = .notSent(message: "\(error)", cause: error)
      return
    }
    switch error.code {
    case .noResponse, .responseTooLarge: self = .noResponse(error)
    case .invalidBody:
      let body = error.body ?? ""
      self = body.isEmpty ? .emptyResponse(status: error.status ?? 200) : .undecodableResponse(message: error.message, body: body)
    default:
      if error.status != nil {
        self = .refused(error)
      } else {
        self = error.outcome == .unknown ? .noResponse(error) : .notSent(message: error.message, cause: error)
      }
    }
  }
}

extension RestClientError: CustomStringConvertible {
  public var description: String { message }
}
