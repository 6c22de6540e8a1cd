import Crypto
import FoundationEssentials
import Glibc
import HummingbirdTLS
import SwiftASN1
import X509

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
      try check("\(certificate) and \(key)")
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

  /// The server's TLS settings; it only speaks HTTP/1.1.
  func configuration() throws(SandboxError) -> TLSConfiguration {
    do {
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(chain.utf8)).map { .certificate($0) },
        privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
      configuration.applicationProtocols = ["http/1.1"]
      configuration.minimumTLSVersion = .tlsv12
      return configuration
    } catch {
      throw Self.unusable("the certificate", "\(error)")
    }
  }

  // MARK: Generation

  /// Generates a certificate and an authority whose key is discarded at once: a client that trusts
  /// the authority trusts this server only.
  private static func make(_ names: [String], authorityPath: String?) throws(SandboxError) -> TLSIdentity {
    do {
      let authorityKey = Certificate.PrivateKey(P256.Signing.PrivateKey())
      let authorityName = try DistinguishedName { CommonName("Tureen sandbox authority \(RandomText.make(8))") }
      let authority = try certificate(authorityName, authorityKey.publicKey, by: authorityName, authorityKey) {
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
        Critical(KeyUsage(keyCertSign: true, cRLSign: true))
        SubjectKeyIdentifier(hash: authorityKey.publicKey)
      }
      let key = P256.Signing.PrivateKey()
      let publicKey = Certificate.PrivateKey(key).publicKey
      let subject = try DistinguishedName { CommonName("localhost") }
      let leaf = try certificate(subject, publicKey, by: authorityName, authorityKey) {
        Critical(BasicConstraints.notCertificateAuthority)
        Critical(KeyUsage(digitalSignature: true))
        try ExtendedKeyUsage([.serverAuth])
        SubjectAlternativeNames(generalNames(names))
        SubjectKeyIdentifier(hash: publicKey)
        AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: authorityKey.publicKey).keyIdentifier)
      }
      let authorityPEM = try authority.serializeAsPEM().pemString + "\n"
      return TLSIdentity(
        chain: try leaf.serializeAsPEM().pemString + "\n" + authorityPEM, key: key.pemRepresentation + "\n",
        authority: authorityPEM, authorityPath: authorityPath)
    } catch {
      throw unusable("a new certificate", "\(error)")
    }
  }

  private static func certificate(
    _ subject: DistinguishedName, _ key: Certificate.PublicKey, by issuer: DistinguishedName,
    _ issuerKey: Certificate.PrivateKey,
    @ExtensionsBuilder extensions: () throws -> Result<Certificate.Extensions, any Error>
  ) throws -> Certificate {
    let now = Date()
    return try Certificate(
      version: .v3, serialNumber: .init(), publicKey: key, notValidBefore: now - 3_600,
      notValidAfter: now + ServerTuning.certificateSeconds, issuer: issuer, subject: subject,
      signatureAlgorithm: .ecdsaWithSHA256, extensions: try extensions().get(), issuerPrivateKey: issuerKey)
  }

  private static func generalNames(_ names: [String]) -> [GeneralName] {
    let loopback: [GeneralName] = [
      .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
      .ipAddress(ASN1OctetString(contentBytes: [UInt8](repeating: 0, count: 15) + [1])),
    ]
    return loopback
      + names.filter { !$0.isEmpty && $0 != "localhost" && !$0.contains(":") }.map { name in
        let numbers = name.split(separator: ".").compactMap { UInt8($0) }
        return numbers.count == 4 ? .ipAddress(ASN1OctetString(contentBytes: numbers[...])) : .dnsName(name)
      }
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
    guard (try? identity.check(folder)) != nil, let leaf = try? Self.leaf(chain, folder),
      leaf.notValidAfter > Date() + ServerTuning.certificateRenewalSeconds
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

  /// Checks that the key belongs to the certificate.
  private func check(_ name: String) throws(SandboxError) {
    do {
      let keys = try PEMDocument.parseMultiple(pemString: key).filter { $0.discriminator.hasSuffix("PRIVATE KEY") }
      guard let key = keys.first else { throw Self.unusable(name, "the file has no private key") }
      guard try Certificate.PrivateKey(pemDocument: key).publicKey == Self.leaf(chain, name).publicKey else {
        throw Self.unusable(name, "the key does not belong to the certificate")
      }
    } catch let error as SandboxError {
      throw error
    } catch {
      throw Self.unusable(name, "\(error)")
    }
  }

  /// Returns the first certificate of a chain.
  private static func leaf(_ chain: String, _ name: String) throws -> Certificate {
    let documents = try PEMDocument.parseMultiple(pemString: chain)
    guard let leaf = documents.first else { throw unusable(name, "the file has no certificate") }
    return try Certificate(pemDocument: leaf)
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
