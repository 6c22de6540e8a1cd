/// Limits of a pretend server, each with its unit and its reason.
package enum ServerTuning {
  /// Bytes of one request body, where a service does not say otherwise.
  package static let requestBodyBytes = 16 * 1024 * 1024
  /// Bytes of the largest body any resource of any service takes, and of all large bodies that are in memory at once.
  static let largestBodyBytes = 150 * 1024 * 1024, largeBodiesBytes = 2 * largestBodyBytes
  /// Bytes of a request target: 414 above it, as common front ends answer.
  static let requestTargetBytes = 16_384
  /// Bytes of target and headers together: 431 above it.
  static let requestHeadBytes = 16_384
  /// Bytes at which the parser gives up on a head, well above the two figures before: those are answered more clearly.
  static let parsedHeadBytes = 131_072
  /// Ports of one server: a new one with each move of an org, which tests do some times.
  static let ports = 32
  /// Header fields of one request.
  static let headerFields = 200
  /// Seconds a generated certificate is good for: some clients refuse more than 398 days. And before its end it is
  /// replaced, so that none ends while a server runs.
  static let certificateSeconds = 397.0 * 86_400, certificateRenewalSeconds = 30.0 * 86_400
  /// Bytes of a PEM file that are read; long chains have some 20 KB.
  static let certificateFileBytes = 262_144
  /// Parts of a form, and bytes of a part's headers: some tens of parts are all that clients send.
  static let formParts = 200, partHeadBytes = 8_192
  /// Bytes below which an answer is not worth compressing.
  static let gzipMinimumBytes = 512
  /// zlib's fastest: a page of 2,000 records takes some 5 ms, and the network is loopback.
  static let gzipLevel: Int32 = 1
  /// Requests the log remembers, and bytes of each body it keeps: enough for tests, bounded for a long-lived server.
  static let loggedRequests = 5_000, loggedBodyBytes = 16 * 1024
  /// Fault rules in force at once, and bytes of a path pattern: each request is held against every rule.
  static let faultRules = 1_000, faultPatternBytes = 512
  /// Bounds of what faults take: bytes of a body, milliseconds (a day).
  package static let faultBytes = 1 << 30, faultMilliseconds = 86_400_000
  /// Bounds of what faults take: seconds (ten years), numbers of requests.
  package static let faultSeconds = 315_360_000, faultCount = 1_000_000_000
}
