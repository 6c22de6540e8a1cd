import JSON

/// Something that goes wrong with a request: the name of a kind and its parameters.
///
/// The factories below give the kinds that every service has; a service adds kinds of its own. What a kind takes, and what is
/// right, is said by its ``FaultKind``; ``FaultBench/add(_:when:path:method:host:session:contains:times:)`` checks it.
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
  /// Which clock a fault waits by: the computer's, or the org's, which a test moves.
  public enum Timing: String, Sendable { case real, org }

  /// The request waits before it is handled, and keeps its connection meanwhile.
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

  /// The body comes in small pieces, so many bytes a second.
  public static func trickle(bytesPerSecond: Int, pieceBytes: Int = 64, clock: Timing = .real) -> Fault {
    Fault(
      "trickle",
      [
        "bytesPerSecond": .integer(Int64(bytesPerSecond)), "pieceBytes": .integer(Int64(pieceBytes)),
        "clock": .string(clock.rawValue),
      ])
  }

  /// The `Date` header is so many seconds off the server's clock.
  public static func dateSkew(seconds: Int) -> Fault { Fault("dateSkew", ["seconds": .integer(Int64(seconds))]) }
}

// MARK: Connection

extension Fault {
  /// The connection is closed without a byte; the service never saw the request.
  /// - Parameter reset: With a TCP reset in place of an orderly end.
  public static func dropBeforeHandling(reset: Bool = false) -> Fault { Fault("dropBeforeHandling", ["reset": .bool(reset)]) }

  /// The service has done what was asked; the connection is closed without a byte: a lost acknowledgement.
  public static func dropBeforeResponse(reset: Bool = false) -> Fault { Fault("dropBeforeResponse", ["reset": .bool(reset)]) }

  /// The whole head and so many bytes of the body arrive, then the connection is closed.
  public static func dropInsideResponse(bytes: Int, reset: Bool = false) -> Fault {
    Fault("dropInsideResponse", ["bytes": .integer(Int64(bytes)), "reset": .bool(reset)])
  }

  /// As `bytes`, as a share of the body, 0...1.
  public static func dropInsideResponse(share: Double, reset: Bool = false) -> Fault {
    Fault("dropInsideResponse", ["share": .number(share), "reset": .bool(reset)])
  }

  /// The response arrives whole; the connection it announced to keep is closed.
  public static func dropAfterResponse(reset: Bool = false) -> Fault { Fault("dropAfterResponse", ["reset": .bool(reset)]) }

  /// Nothing comes and the connection stays open until the client closes it.
  public static func hang(executed: Bool = false) -> Fault { Fault("hang", ["executed": .bool(executed)]) }
}

// MARK: Body

extension Fault {
  /// How a truncated body is announced.
  public enum Framing: String, Sendable {
    /// With the length of the whole: the client can tell.
    case length
    /// In chunks without the last one: the client can tell.
    case chunked
    /// With the length that comes: only the content tells.
    case consistent
  }

  public static func truncateBody(bytes: Int, framing: Framing = .length) -> Fault {
    Fault("truncateBody", ["bytes": .integer(Int64(bytes)), "framing": .string(framing.rawValue)])
  }

  public static func truncateBody(share: Double, framing: Framing = .length) -> Fault {
    Fault("truncateBody", ["share": .number(share), "framing": .string(framing.rawValue)])
  }

  /// So many bytes, at random places, have one bit turned over.
  public static func flipBytes(count: Int = 1) -> Fault { Fault("flipBytes", ["count": .integer(Int64(count))]) }
  /// The body is no JSON: one of its brackets or colons is gone.
  public static let invalidJSON = Fault("invalidJSON")
  /// A byte that no UTF-8 text holds stands somewhere in the body.
  public static let invalidUTF8 = Fault("invalidUTF8")
  /// `Content-Length` is so many bytes off; then the connection is closed.
  public static func wrongContentLength(by bytes: Int) -> Fault { Fault("wrongContentLength", ["by": .integer(Int64(bytes))]) }
  /// The body is announced as gzip and begins as gzip does, but is none.
  public static let wrongGzip = Fault("wrongGzip")
  /// Success without a body.
  public static func emptyBody(status: Int = 200, executed: Bool = true) -> Fault {
    Fault("emptyBody", ["status": .integer(Int64(status)), "executed": .bool(executed)])
  }
}

// MARK: Status

extension Fault {
  /// When a client is told to come back.
  public enum RetryAfter: Sendable {
    case unsaid
    case seconds(Int)
    /// As an HTTP date, so many seconds from now by the server's clock.
    case date(inSeconds: Int)

    var parameters: JSONObject {
      switch self {
      case .unsaid: [:]
      case .seconds(let seconds): ["retryAfter": .integer(Int64(seconds))]
      case .date(let seconds): ["retryAfterDate": .integer(Int64(seconds))]
      }
    }
  }

  /// 429, without handling the request.
  public static func tooManyRequests(retryAfter: RetryAfter = .unsaid) -> Fault {
    Fault("tooManyRequests", retryAfter.parameters)
  }

  /// 503, without handling the request.
  public static func unavailable(retryAfter: RetryAfter = .unsaid) -> Fault { Fault("unavailable", retryAfter.parameters) }

  /// 500, 502 or 504. `executed`: the service has done what was asked all the same.
  public static func serverError(_ status: Int = 500, executed: Bool = false) -> Fault {
    Fault("serverError", ["status": .integer(Int64(status)), "executed": .bool(executed)])
  }

  /// An error page for people in place of the answer.
  public static func htmlPage(status: Int = 200, executed: Bool = false) -> Fault {
    Fault("htmlPage", ["status": .integer(Int64(status)), "executed": .bool(executed)])
  }

  /// Any answer in place of the service's.
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
