import COpenSSL

/// X.509 certificates as PEM texts.
package struct Certificate: Sendable {
  /// The certificate of a key that signs others.
  package struct Issuer: Sendable {
    package let pem: String
    package let key: PrivateKey

    package init(pem: String, key: PrivateKey) {
      self.pem = pem
      self.key = key
    }
  }

  package let pem: String

  /// Makes a certificate for a server, or that of an authority, which may sign certificates of servers only.
  ///
  /// - Parameters:
  ///   - subject: The common name.
  ///   - names: `DNS:` and `IP:` with a name each; nil for an authority. Without commas, which would separate further names.
  ///   - seconds: When it becomes valid and when it ends, from now.
  ///   - issuer: nil for a certificate that signs itself.
  package init(
    subject: String, names: [String]?, seconds: Range<Int>, key: PrivateKey, issuer: Issuer? = nil
  ) throws(OpenSSLProblem) {
    let names = names?.joined(separator: ",")
    let made = try OpenSSLProblem.bytes { out, message, size in
      subject.withCString { subject in
        withCString(names) { names in
          withCString(issuer?.pem) { pem in
            var plan = tureen_certificate_plan(
              subject: subject, names: names, from: seconds.lowerBound, until: seconds.upperBound)
            return tureen_certificate_make(&plan, key.key, pem, issuer?.key.key, out, message, size)
          }
        }
      }
    }
    pem = String(decoding: made, as: UTF8.self)
  }

  /// Returns the seconds from now to the end of the first certificate of a PEM text; negative if it is over.
  package static func secondsLeft(_ pem: String) throws(OpenSSLProblem) -> Int64 {
    try OpenSSLProblem.ifNil { message, size in
      var seconds: Int64 = 0
      return tureen_certificate_rest(pem, &seconds, message, size) == 1 ? seconds : nil
    }
  }
}

private func withCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
  guard let text else { return body(nil) }
  return text.withCString { body($0) }
}
