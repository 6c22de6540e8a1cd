import JSON

/// A failure that can be injected into a request: the name of a kind and its parameters.
///
/// The factories below create the kinds that every service has; a service can add its own. The
/// ``FaultKind`` defines the parameters and their allowed values;
/// ``FaultBench/add(_:when:path:method:host:session:contains:times:)`` checks them.
public struct Fault: Sendable, Equatable {
  public let kind: String
  public let parameters: JSONObject

  public init(_ kind: String, _ parameters: JSONObject = [:]) {
    self.kind = kind
    self.parameters = parameters
  }
}

// MARK: Time

extension Fault {
  /// The clock a delay uses: the computer's, or the org's, which a test can move.
  public enum Timing: String, Sendable { case real, org }

  /// Delays the request before it is handled; its connection stays open.
  public static func latency(milliseconds: ClosedRange<Int>, clock: Timing = .real) -> Fault {
    Fault(
      "latency",
      [
        "milliseconds": [.integer(Int64(milliseconds.lowerBound)), .integer(Int64(milliseconds.upperBound))],
        "clock": .string(clock.rawValue),
      ])
  }

  public static func latency(milliseconds: Int, clock: Timing = .real) -> Fault {
    latency(milliseconds: milliseconds...milliseconds, clock: clock)
  }

  /// Sends the body in small pieces at the given rate.
  public static func trickle(bytesPerSecond: Int, pieceBytes: Int = 64, clock: Timing = .real) -> Fault {
    Fault(
      "trickle",
      [
        "bytesPerSecond": .integer(Int64(bytesPerSecond)), "pieceBytes": .integer(Int64(pieceBytes)),
        "clock": .string(clock.rawValue),
      ])
  }

  /// Shifts the `Date` header by this many seconds from the server's clock.
  public static func dateSkew(seconds: Int) -> Fault { Fault("dateSkew", ["seconds": .integer(Int64(seconds))]) }
}

// MARK: Connection

extension Fault {
  /// Closes the connection before the service sees the request; the client gets no byte.
  /// - Parameter reset: Ends with a TCP reset instead of an orderly close.
  public static func dropBeforeHandling(reset: Bool = false) -> Fault { Fault("dropBeforeHandling", ["reset": .bool(reset)]) }

  /// Handles the request, then closes the connection without sending a byte: the acknowledgement is
  /// lost.
  public static func dropBeforeResponse(reset: Bool = false) -> Fault { Fault("dropBeforeResponse", ["reset": .bool(reset)]) }

  /// Sends the head and this many bytes of the body, then closes the connection.
  public static func dropInsideResponse(bytes: Int, reset: Bool = false) -> Fault {
    Fault("dropInsideResponse", ["bytes": .integer(Int64(bytes)), "reset": .bool(reset)])
  }

  /// Sends the head and this share (0...1) of the body, then closes the connection.
  public static func dropInsideResponse(share: Double, reset: Bool = false) -> Fault {
    Fault("dropInsideResponse", ["share": .number(share), "reset": .bool(reset)])
  }

  /// Sends the whole response, then closes a connection that was announced as kept alive.
  public static func dropAfterResponse(reset: Bool = false) -> Fault { Fault("dropAfterResponse", ["reset": .bool(reset)]) }

  /// Sends nothing and keeps the connection open until the client closes it.
  public static func hang(executed: Bool = false) -> Fault { Fault("hang", ["executed": .bool(executed)]) }
}

// MARK: Body

extension Fault {
  /// How a truncated body is announced.
  public enum Framing: String, Sendable {
    /// With the length of the whole body: the client can detect the loss.
    case length
    /// In chunks, without the last one: the client can detect the loss.
    case chunked
    /// With the length that is really sent: only the content shows the loss.
    case consistent
  }

  public static func truncateBody(bytes: Int, framing: Framing = .length) -> Fault {
    Fault("truncateBody", ["bytes": .integer(Int64(bytes)), "framing": .string(framing.rawValue)])
  }

  public static func truncateBody(share: Double, framing: Framing = .length) -> Fault {
    Fault("truncateBody", ["share": .number(share), "framing": .string(framing.rawValue)])
  }

  /// Flips one bit in each of `count` bytes at random positions.
  public static func flipBytes(count: Int = 1) -> Fault { Fault("flipBytes", ["count": .integer(Int64(count))]) }
  /// Makes the body invalid JSON by removing a bracket or a colon.
  public static let invalidJSON = Fault("invalidJSON")
  /// Inserts a byte that never occurs in UTF-8.
  public static let invalidUTF8 = Fault("invalidUTF8")
  /// Sends a `Content-Length` that is wrong by this many bytes, then closes the connection.
  public static func wrongContentLength(by bytes: Int) -> Fault { Fault("wrongContentLength", ["by": .integer(Int64(bytes))]) }
  /// Announces the body as gzip and starts it with a gzip header, but the data is not valid.
  public static let wrongGzip = Fault("wrongGzip")
  /// Answers with success and no body.
  public static func emptyBody(status: Int = 200, executed: Bool = true) -> Fault {
    Fault("emptyBody", ["status": .integer(Int64(status)), "executed": .bool(executed)])
  }
}

// MARK: Status

extension Fault {
  /// How long the client is asked to wait before it retries.
  public enum RetryAfter: Sendable {
    case unsaid
    case seconds(Int)
    /// As an HTTP date, this many seconds after the server's current time.
    case date(inSeconds: Int)

    var parameters: JSONObject {
      switch self {
      case .unsaid: [:]
      case .seconds(let seconds): ["retryAfter": .integer(Int64(seconds))]
      case .date(let seconds): ["retryAfterDate": .integer(Int64(seconds))]
      }
    }
  }

  /// Answers 429 without handling the request.
  public static func tooManyRequests(retryAfter: RetryAfter = .unsaid) -> Fault {
    Fault("tooManyRequests", retryAfter.parameters)
  }

  /// Answers 503 without handling the request.
  public static func unavailable(retryAfter: RetryAfter = .unsaid) -> Fault { Fault("unavailable", retryAfter.parameters) }

  /// Answers 500, 502 or 504.
  /// - Parameter executed: The service handles the request all the same.
  public static func serverError(_ status: Int = 500, executed: Bool = false) -> Fault {
    Fault("serverError", ["status": .integer(Int64(status)), "executed": .bool(executed)])
  }

  /// Answers with an HTML error page.
  public static func htmlPage(status: Int = 200, executed: Bool = false) -> Fault {
    Fault("htmlPage", ["status": .integer(Int64(status)), "executed": .bool(executed)])
  }

  /// Answers with the given response instead of the service's.
  public static func answer(
    status: Int, body: String = "", contentType: String = "application/json;charset=UTF-8", executed: Bool = false
  ) -> Fault {
    Fault(
      "answer",
      [
        "status": .integer(Int64(status)), "body": .string(body), "contentType": .string(contentType),
        "executed": .bool(executed),
      ])
  }

  public static func redirect(to location: String, status: Int = 302) -> Fault {
    Fault("redirect", ["location": .string(location), "status": .integer(Int64(status))])
  }
}
