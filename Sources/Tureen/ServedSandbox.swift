import Glibc
import JSON
import Support

/// The running `tureen sandbox` of a home, as other processes find it. There is at most one, because a second one would remove
/// the credentials of the first when it ends.
public struct ServedSandbox: Sendable, Equatable {
  public let url: String
  /// The token for its control interface. A secret.
  public let controlToken: String
  /// The path of the certificate to trust; nil without TLS.
  public let authority: String?
  /// The simulated forge next to the org.
  public let forge: Forge?
  /// The simulated Parse server next to the org.
  public let parse: Parse?

  /// A simulated Parse server and the key of its clients.
  public struct Parse: Sendable, Equatable {
    /// The server URL for clients.
    public let url: String
    public let applicationId: String
    /// A secret.
    public let restAPIKey: String

    public init(url: String, applicationId: String, restAPIKey: String) {
      self.url = url
      self.applicationId = applicationId
      self.restAPIKey = restAPIKey
    }
  }

  /// A simulated REST API like that of GitHub.
  public struct Forge: Sendable, Equatable {
    /// The base URL for clients.
    public let url: String
    /// The token of one of its users. A secret.
    public let token: String

    public init(url: String, token: String) {
      self.url = url
      self.token = token
    }
  }

  public init(url: String, controlToken: String, authority: String? = nil, forge: Forge? = nil, parse: Parse? = nil) {
    self.url = url
    self.controlToken = controlToken
    self.authority = authority
    self.forge = forge
    self.parse = parse
  }

  /// Returns the running sandbox of a home; nil if there is none or it is not ready.
  public static func find(home: String) -> ServedSandbox? {
    guard let descriptor = open(lockPath(home), O_RDONLY | O_CLOEXEC) else { return nil }
    defer { close(descriptor) }
    guard holder(descriptor) != nil, let text = FileSystem.read(lockPath(home)),
      let kept = try? JSONValue(parsing: text), let url = kept["url"]?.stringValue,
      let token = kept["controlToken"]?.stringValue
    else { return nil }
    var forge: Forge?
    if let url = kept["forge"]?["url"]?.stringValue, let token = kept["forge"]?["token"]?.stringValue {
      forge = Forge(url: url, token: token)
    }
    var parse: Parse?
    if let known = kept["parse"], let url = known["url"]?.stringValue, let id = known["applicationId"]?.stringValue,
      let key = known["restAPIKey"]?.stringValue
    {
      parse = Parse(url: url, applicationId: id, restAPIKey: key)
    }
    return ServedSandbox(
      url: url, controlToken: token, authority: kept["authority"]?.stringValue, forge: forge, parse: parse)
  }

  /// The lock that makes a process the only sandbox of a home. The system releases it when the process ends.
  public final class Lock: Sendable {
    private let descriptor: Int32

    /// Another process is the sandbox of the home.
    public struct Taken: Error { public let processId: Int32 }

    /// Takes the lock. Create at most one per process and home, because closing any descriptor of the file releases the lock.
    /// - Throws: ``Taken``, or ``HostError`` if the file cannot be written.
    public init(home: String) throws {
      try FileSystem.makeDirectory("\(home)/sandbox")
      let path = ServedSandbox.lockPath(home)
      guard let descriptor = ServedSandbox.open(path, O_RDWR | O_CLOEXEC | O_CREAT | O_NOFOLLOW) else {
        throw HostError(.invalidConfiguration, "\(path): \(String(cString: strerror(errno)))")
      }
      self.descriptor = descriptor
      var lock = ServedSandbox.wholeFile
      if fcntl(descriptor, F_SETLK, &lock) != 0, errno == EACCES || errno == EAGAIN {
        throw Taken(processId: ServedSandbox.holder(descriptor) ?? 0)
      }
      // Remove what an earlier process may have left.
      ftruncate(descriptor, 0)
    }

    deinit { close(descriptor) }

    /// Publishes the server to other processes.
    public func announce(_ served: ServedSandbox) {
      var members: JSONObject = ["url": .string(served.url), "controlToken": .string(served.controlToken)]
      members["authority"] = served.authority.map { .string($0) }
      members["forge"] = served.forge.map { ["url": .string($0.url), "token": .string($0.token)] }
      members["parse"] = served.parse.map {
        ["url": .string($0.url), "applicationId": .string($0.applicationId), "restAPIKey": .string($0.restAPIKey)]
      }
      let text = JSONValue.object(members).serialized()
      _ = text.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    /// Hides the server from other processes.
    public func withdraw() { ftruncate(descriptor, 0) }
  }

  private static func lockPath(_ home: String) -> String { "\(home)/sandbox/serving.json" }

  private static func open(_ path: String, _ flags: Int32) -> Int32? {
    let descriptor = Glibc.open(path, flags, 0o600)
    return descriptor < 0 ? nil : descriptor
  }

  private static var wholeFile: flock {
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    return lock
  }

  /// Returns the id of the process that holds the lock.
  private static func holder(_ descriptor: Int32) -> Int32? {
    var lock = wholeFile
    guard fcntl(descriptor, F_GETLK, &lock) == 0, Int32(lock.l_type) != Int32(F_UNLCK) else { return nil }
    return lock.l_pid
  }
}
