/// One try of one request, as it ended. Nothing secret in it: no query, no header, no body.
public struct RestTrace: Sendable, Equatable {
  public let method: HTTPMethod
  /// Without the query; of a named connection the whole URL.
  public let path: String
  /// nil when there was no answer.
  public let status: Int?
  /// nil for an answer a caller gets as a response.
  public let errorCode: RestError.Code?
  /// From 1; above 1 it is a retry.
  public let attempt: Int
  /// Bytes of the bodies; the received one after decompression.
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
  /// A path or a URL without anything behind `?` or `#`.
  static func path(of url: String) -> String {
    let end = url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
    return end.map { String(url[..<$0]) } ?? url
  }
}

/// Hears of every try, sign-in and refresh included. Called on the sender's task; must not block.
public protocol RestObserver: Sendable {
  func requestFinished(_ trace: RestTrace)

  /// The headers of an answer to a client of an org, whatever its status: they say how much of a limit is used, for one.
  func received(headers: [(name: String, value: String)])
}

extension RestObserver {
  public func received(headers: [(name: String, value: String)]) {}
}
