/// Limits of a pretend server, each with its unit and its reason.
package enum ServerTuning {
  /// Maximum bytes of a request body, unless a service sets another limit.
  package static let requestBodyBytes = 16 * 1024 * 1024
  /// Maximum bytes of the largest body that any resource takes, and of all large bodies in memory
  /// at once.
  static let largestBodyBytes = 150 * 1024 * 1024, largeBodiesBytes = 2 * largestBodyBytes
  /// Maximum bytes of a request target; 414 above it, as common front ends answer.
  static let requestTargetBytes = 16_384
  /// Maximum bytes of target and headers together; 431 above it.
  static let requestHeadBytes = 16_384
  /// Bytes at which the parser gives up on a head. Far above the two limits before, which give
  /// clearer errors.
  static let parsedHeadBytes = 131_072
  /// Connections that the system keeps waiting to be accepted, for each port.
  static let backlog: Int32 = 256
  /// Maximum ports of one server. Each move of an org opens one, and tests move orgs a few times.
  static let ports = 32
  /// Maximum header fields of one request.
  static let headerFields = 200
  /// Lifetime of a generated certificate in seconds, since some clients refuse more than 398 days;
  /// and the time before its end when it is replaced, so that it does not expire while a server
  /// runs.
  static let certificateSeconds = 397 * 86_400, certificateRenewalSeconds = 30 * 86_400
  /// Maximum bytes of a PEM file; long chains take about 20 KB.
  static let certificateFileBytes = 262_144
  /// Maximum parts of a form, and bytes of a part's headers; clients send some tens of parts.
  static let formParts = 200, partHeadBytes = 8_192
  /// Bytes below which a response is not compressed.
  static let gzipMinimumBytes = 512
  /// zlib's fastest level: a page of 2,000 records takes about 5 ms, and the network is loopback.
  static let gzipLevel: Int32 = 1
  /// Requests the log keeps, and bytes of each body: enough for tests, and bounded for a long-lived
  /// server.
  static let loggedRequests = 5_000, loggedBodyBytes = 16 * 1024
  /// Maximum number of fault rules, and bytes of a path pattern: every request is compared with
  /// every rule.
  static let faultRules = 1_000, faultPatternBytes = 512
  /// Limits for fault parameters: bytes of a body, and milliseconds (a day).
  package static let faultBytes = 1 << 30, faultMilliseconds = 86_400_000
  /// Limits for fault parameters: seconds (ten years), and numbers of requests.
  package static let faultSeconds = 315_360_000, faultCount = 1_000_000_000
}
