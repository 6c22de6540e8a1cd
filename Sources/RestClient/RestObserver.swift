/// Describes one finished attempt of a request. Contains nothing secret: no query, header or body.
public struct RestTrace: Sendable, Equatable {
  public let method: HTTPMethod
  /// Without the query. For a named connection, this is the whole URL.
  public let path: String
  /// nil if there was no response.
  public let status: Int?
  /// nil if the caller gets the response.
  public let errorCode: RestError.Code?
  /// Counts from 1; higher numbers are retries.
  public let attempt: Int
  /// Bytes of the bodies; `bytesReceived` counts after decompression.
  public let bytesSent: Int
  public let bytesReceived: Int
  /// Wall time in milliseconds.
  public let durationMs: Double

  public init(
    method: HTTPMethod, path: String, status: Int?, errorCode: RestError.Code?, attempt: Int, bytesSent: Int,
    bytesReceived: Int, durationMs: Double
  ) {
    self.method = method
    self.path = path
    self.status = status
    self.errorCode = errorCode
    self.attempt = attempt
    self.bytesSent = bytesSent
    self.bytesReceived = bytesReceived
    self.durationMs = durationMs
  }
}

extension RestTrace {
  /// Returns a path or URL without its query and fragment.
  static func path(of url: String) -> String {
    let end = url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
    return end.map { String(url[..<$0]) } ?? url
  }
}

/// Observes every attempt, including sign-in and refresh. Called on the sender's task; must not
/// block.
public protocol RestObserver: Sendable {
  func requestFinished(_ trace: RestTrace)

  /// Receives the headers of each response to an org's client, with any status. They report usage
  /// of the API limits, for example.
  func received(headers: [(name: String, value: String)])
}

extension RestObserver {
  public func received(headers: [(name: String, value: String)]) {}
}
