/// The limits of this module, each with its unit and its reason.
public enum Tuning {
  /// Bytes of one response. A page of 2,000 records has about 1 MB, one with long texts some 30 MB.
  /// The limit keeps an endless response from filling the memory.
  public static let largestResponse = 256 * 1024 * 1024

  /// Bytes of a request's URL and headers. Servers accept 8 to 16 KB, and none more than 64 KB.
  public static let largestRequestHead = 48 * 1024

  /// Bytes of the status line and headers of a response. Servers limit their own to 64 KB or less.
  static let largestResponseHead = 256 * 1024

  /// Initial buffer in bytes for a body of unknown length: enough for one page of small records.
  static let smallestBodyBuffer = 16 * 1024

  /// Bytes allocated because of a `Content-Length` header alone. Longer bodies grow the buffer as
  /// they arrive.
  static let largestTrustedLength = 64 * 1024 * 1024

  /// Milliseconds to connect, including the TLS handshake.
  public static let connectTimeoutMs: Int64 = 10_000

  /// Milliseconds without a single byte from the server. Does not limit the whole response, because
  /// a big page over a slow line is legitimate. The server spends up to 120 s on a query before the
  /// first byte.
  public static let idleTimeoutMs: Int64 = 130_000

  /// Milliseconds that an idle connection is kept. Shorter than servers keep it, so that a create
  /// is rarely written to a connection that the server has just closed.
  public static let keepAliveMs: Int64 = 20_000

  /// Connections to one host: more than the number of syncs that usually run at once, fewer than
  /// the 25 long calls that an org allows.
  public static let connectionsPerHost = 8

  /// Unused connections that a transport keeps, to all its hosts.
  static let keptConnections = 32

  /// Seconds after which the thread of a transport looks at its requests although nothing happened.
  static let longestLoopWaitS = 600.0

  /// Attempts of one request, including the first.
  public static let attempts = 5

  /// The longest wait before the second attempt, in seconds; doubled for each further one.
  public static let firstBackoff = 0.5

  /// The longest wait between two attempts, in seconds. If `Retry-After` asks for more, the request
  /// fails instead, so that the script knows.
  public static let longestBackoff = 30.0

  /// Bytes of a host in a URL: no name of the DNS is longer, and messages repeat it.
  static let longestHost = 255

  /// The length to which messages shorten a header value or path, in characters.
  static let shownCharacters = 200

  // MARK: Connections: the defaults of `connections.json` and the bounds of its numbers

  /// Seconds to connect to a named server.
  public static let connectionConnectTimeoutS = 10.0

  /// Seconds for one attempt of a request, including the response.
  public static let connectionTimeoutS = 60.0

  /// Bytes of a response: 64 MB, a hundred times a usual page.
  public static let connectionMaxBytes = 64 * 1024 * 1024

  /// Upper bound of `maxBytes`, in bytes. A response is held in memory.
  static let largestConnectionBytes = 1024 * 1024 * 1024

  /// Seconds to wait for a quota or `Retry-After`. If the wait is longer, the sync stops and
  /// reports when to retry.
  public static let connectionMaxWaitS = 900.0

  /// Upper bound of `maxParallel`, in requests in flight.
  static let largestParallel = 64

  /// Milliseconds to wait for another process that is renewing the same token.
  static let signInPatienceMs: Int64 = 90_000

  /// Permanent redirects that a connection remembers.
  static let rememberedMoves = 256

  // MARK: The response cache

  /// Largest cacheable body in bytes: a page of a list, but not a download.
  static let largestCachedBody = 2 * 1024 * 1024

  /// Milliseconds to wait for another process that is writing to the cache. A miss costs less than
  /// a long wait.
  static let cacheBusyTimeoutMs: Int32 = 2_000

  /// Minimum seconds between two updates of a response's time of last use.
  static let cacheTouchS = 1.0

  // MARK: The request log

  /// Bytes of a body to include in the log at level `debug`.
  static let loggedBody = 4 * 1024

  /// Bytes of a body to search for secrets before it is cut to ``loggedBody``.
  static let largestRedactedBody = 64 * 1024
  /// Attempts of a request that a Parse server answers with an internal error, including the first.
  static let parseInternalErrorAttempts = 3
}
