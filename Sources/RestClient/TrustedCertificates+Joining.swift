extension TrustedCertificates {
  /// Combines all certificates; nil if there are none.
  init?(joining all: [TrustedCertificates?]) {
    let found = all.compactMap { $0 }.flatMap(\.pem)
    guard !found.isEmpty else { return nil }
    pem = found
  }
}
