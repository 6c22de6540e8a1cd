import RestClient

/// The error of a request that ``RestClient/RestClient/send(request:)`` sent, or could not send.
///
/// - Note: Source: the native SDK's error of the same name; the associated values are Tureen's.
public enum RestClientError: Error, Sendable {
  /// No complete answer arrived: the connection was refused, timed out or was interrupted.
  case noResponse(RestError)
  /// The server answered with an error status; ``message`` is its first message.
  case refused(RestError)
  /// The status is a success, but a required body is missing.
  case emptyResponse(status: Int)
  /// The status is a success, but the body has the wrong form.
  case undecodableResponse(message: String, body: String)
  /// Nothing was sent, because there is no session, the request is invalid or the host is closed.
  case notSent(message: String, cause: any Error)

  /// A message for people: the server's own message if there is one.
  public var message: String {
    switch self {
    case .noResponse(let error), .refused(let error): error.message
    case .emptyResponse(let status): "the server answered \(status) without a body"
    case .undecodableResponse(let message, _), .notSent(let message, _): message
    }
  }

  /// The HTTP status; nil if no answer was received or its status is not known.
  public var status: Int? {
    switch self {
    case .refused(let error): error.status
    case .emptyResponse(let status): status
    case .noResponse, .undecodableResponse, .notSent: nil
    }
  }

  /// Converts an error that a ``RestClient`` has thrown.
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
