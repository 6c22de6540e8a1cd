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
  /// The host of the server, in lower case; empty if that is not known.
  public let server: String
  /// When it was sent, in ms since 1970 UTC; 0 if that is not known.
  public let startedAt: Int64

  public init(
    method: HTTPMethod, path: String, status: Int?, errorCode: RestError.Code?, attempt: Int, bytesSent: Int,
    bytesReceived: Int, durationMs: Double, server: String = "", startedAt: Int64 = 0
  ) {
    self.server = server
    self.startedAt = startedAt
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
  /// The path alone, also for a named connection.
  package var localPath: String {
    guard let scheme = path.afterScheme("://") else { return path }
    return path[scheme...].firstIndex(of: "/").map { String(path[$0...]) } ?? "/"
  }

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

extension String {
  /// Returns the position after the mark that ends the scheme of an address; nil for another text.
  fileprivate func afterScheme(_ mark: String) -> Index? {
    let bytes = utf8, wanted = Array(mark.utf8)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: wanted) else { return nil }
    return bytes.index(colon, offsetBy: wanted.count)
  }
}
