import Glibc
import Support

/// The source of the server's certificate.
public enum SandboxTLS: Sendable, Equatable {
  /// Your own PEM files: the certificate with its chain, and its key.
  case files(certificate: String, key: String)
  /// Generates a certificate for `localhost`, `127.0.0.1` and `::1`, and stores it in a folder,
  /// which is created if needed. It is replaced a month before it expires. nil keeps a new
  /// certificate in memory each time.
  case generated(folder: String?)
}

/// A certificate chain, its key, and the certificate that clients must trust.
struct TLSIdentity: Sendable {
  /// PEM texts.
  let chain: String, key: String
  /// PEM of the certificate that clients must trust, and the path of its file.
  let authority: String, authorityPath: String?

  /// Reads or generates the certificate. Blocks on files.
  ///
  /// - Throws: ``SandboxError`` `CANNOT_USE_CERTIFICATE`, which names the file.
  init(_ source: SandboxTLS, names: [String]) throws(SandboxError) {
    switch source {
    case .files(let certificate, let key):
      self.init(chain: try Self.read(certificate), key: try Self.read(key), authorityPath: certificate)
      // Also checks that the key belongs to the certificate.
      _ = try context("\(certificate) and \(key)")
    case .generated(nil):
      self = try Self.make(names, authorityPath: nil)
    case .generated(let folder?):
      if let kept = Self.kept(in: folder) {
        self = kept
      } else {
        self = try Self.make(names, authorityPath: folder + "/ca.pem")
        try store(in: folder)
      }
    }
  }

  private init(chain: String, key: String, authority: String? = nil, authorityPath: String?) {
    self.chain = chain
    self.key = key
    self.authority = authority ?? chain
    self.authorityPath = authorityPath
  }

  /// The server's TLS settings.
  ///
  /// - Throws: ``SandboxError`` `CANNOT_USE_CERTIFICATE`.
  func context() throws(SandboxError) -> TLSServerContext { try context("the certificate") }

  private func context(_ name: String) throws(SandboxError) -> TLSServerContext {
    do throws(OpenSSLProblem) {
      return try TLSServerContext(chain: chain, key: key)
    } catch {
      throw Self.unusable(name, error.description)
    }
  }

  // MARK: Generation

  /// Generates a certificate and an authority whose key is discarded at once: a client that trusts
  /// the authority trusts this server only.
  private static func make(_ names: [String], authorityPath: String?) throws(SandboxError) -> TLSIdentity {
    do throws(OpenSSLProblem) {
      let authorityKey = try PrivateKey.makeEC(), key = try PrivateKey.makeEC()
      let seconds = -3_600..<ServerTuning.certificateSeconds
      let authority = try Certificate(
        subject: "Tureen sandbox authority \(RandomText.make(8))", names: nil, seconds: seconds, key: authorityKey)
      let leaf = try Certificate(
        subject: "localhost", names: alternativeNames(names), seconds: seconds, key: key,
        issuer: .init(pem: authority.pem, key: authorityKey))
      return TLSIdentity(
        chain: leaf.pem + authority.pem, key: try key.pem(), authority: authority.pem, authorityPath: authorityPath)
    } catch {
      throw unusable("a new certificate", error.description)
    }
  }

  private static func alternativeNames(_ names: [String]) -> [String] {
    ["DNS:localhost", "IP:127.0.0.1", "IP:::1"]
      + names.filter { isHostName($0) && $0 != "localhost" }.map { name in
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil } ? "IP:" + name : "DNS:" + name
      }
  }

  /// Whether a client can ask for it by name; OpenSSL's syntax for names uses other characters.
  private static func isHostName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-._*".utf8.contains($0) }
  }

  // MARK: Files

  /// Reads the identity stored in a folder.
  ///
  /// - Returns: nil if the folder has none that stays valid for another month.
  private static func kept(in folder: String) -> TLSIdentity? {
    guard let chain = try? read(folder + "/server.pem"), let key = try? read(folder + "/server.key"),
      let authority = try? read(folder + "/ca.pem")
    else { return nil }
    let identity = TLSIdentity(chain: chain, key: key, authority: authority, authorityPath: folder + "/ca.pem")
    guard (try? identity.context()) != nil, let rest = try? Certificate.secondsLeft(chain),
      rest > Int64(ServerTuning.certificateRenewalSeconds)
    else { return nil }
    return identity
  }

  private func store(in folder: String) throws(SandboxError) {
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw Self.unusable(folder, "the folder cannot be created: \(String(cString: strerror(errno)))")
    }
    for (name, text) in [("server.key", key), ("server.pem", chain), ("ca.pem", authority)] {
      try Self.write(text, to: "\(folder)/\(name)")
    }
  }

  private static func read(_ path: String) throws(SandboxError) -> String {
    do {
      return String(decoding: try SmallFile.read(path, upTo: ServerTuning.certificateFileBytes), as: UTF8.self)
    } catch {
      throw unusable(path, error.reason)
    }
  }

  private static func write(_ text: String, to path: String) throws(SandboxError) {
    let descriptor = open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw unusable(path, String(cString: strerror(errno))) }
    let bytes = Array(text.utf8)
    let written = Glibc.write(descriptor, bytes, bytes.count)
    Glibc.close(descriptor)
    guard written == bytes.count, rename(path + ".new", path) == 0 else {
      throw unusable(path, "it cannot be written: \(String(cString: strerror(errno)))")
    }
  }

  private static func unusable(_ name: String, _ reason: String) -> SandboxError {
    SandboxError(status: 0, code: "CANNOT_USE_CERTIFICATE", message: "cannot use \(name) for TLS: \(reason)")
  }
}
