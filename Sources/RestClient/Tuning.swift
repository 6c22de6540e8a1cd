/// The limits of this module, each with its unit and its reason.
public enum Tuning {
  /// Bytes of one response. A page of 2,000 records is about 1 MB, one of long texts some 30 MB; a server that sends
  /// without end must not fill the memory.
  public static let largestResponse = 256 * 1024 * 1024

  /// Bytes of a request's URL and headers. Servers take 8 to 16 KB; from 64 KB on the HTTP library finds its connection full
  /// after the headers and ends the process.
  public static let largestRequestHead = 48 * 1024

  /// Bytes first set aside for a body of unknown length: one page of small records needs no growing.
  static let smallestBodyBuffer = 16 * 1024

  /// Bytes set aside on the word of a `Content-Length` alone. What is longer grows as it arrives.
  static let largestTrustedLength = 64 * 1024 * 1024

  /// Milliseconds to connect, TLS included.
  public static let connectTimeoutMs: Int64 = 10_000

  /// Milliseconds without a single byte from the server. Not a limit of the whole answer: a big page over a slow line
  /// is no failure. The server gives a query 120 s before its first byte.
  public static let idleTimeoutMs: Int64 = 130_000

  /// Milliseconds an unused connection is kept. Shorter than what servers keep, so that a create is seldom written to a
  /// connection the server has just closed.
  public static let keepAliveMs: Int64 = 20_000

  /// Connections to one host. Above the number of syncs that usually run at once, below the 25 long calls an org
  /// allows.
  public static let connectionsPerHost = 8

  /// Tries of one request, the first included.
  public static let attempts = 5

  /// Seconds before the second try at most; doubled each time.
  public static let firstBackoff = 0.5

  /// Seconds between two tries at most, also when `Retry-After` asks for more: a script must hear of it.
  public static let longestBackoff = 30.0

  /// Characters of a header value or path shown in messages.
  static let shownCharacters = 200

  // MARK: Connections: the defaults of `connections.json`, and the bounds of its numbers

  /// Seconds until a connection of a named server stands.
  public static let connectionConnectTimeoutS = 10.0

  /// Seconds for one try of a request, the answer included.
  public static let connectionTimeoutS = 60.0

  /// Bytes of an answer: 64 MB, a hundred times a usual page.
  public static let connectionMaxBytes = 64 * 1024 * 1024

  /// Bytes: what `maxBytes` may be at most. An answer is held in memory.
  static let largestConnectionBytes = 1024 * 1024 * 1024

  /// Seconds to wait for a quota or `Retry-After`; beyond it a sync stops and says when to come back.
  public static let connectionMaxWaitS = 900.0

  /// Requests in flight that `maxParallel` may allow at most.
  static let largestParallel = 64

  /// Milliseconds to wait for another process that renews the same token.
  static let signInPatienceMs: Int64 = 90_000

  /// Addresses of moved resources that a connection remembers.
  static let rememberedMoves = 256

  // MARK: The response cache

  /// Bytes of a body that is stored: a page of a list, not a download.
  static let largestCachedBody = 2 * 1024 * 1024

  /// Milliseconds to wait for another process that writes to the cache. A miss costs less than a long wait.
  static let cacheBusyTimeoutMs: Int32 = 2_000

  /// Seconds after which a use is noted again.
  static let cacheTouchS = 1.0

  // MARK: The request log

  /// Bytes of a body that the level `debug` shows.
  static let loggedBody = 4 * 1024

  /// Bytes of a body that are searched for secrets before it is cut to ``loggedBody``.
  static let largestRedactedBody = 64 * 1024
  /// Tries of one request that a Parse server answers with an internal error, the first included.
  static let parseInternalErrorAttempts = 3
}
