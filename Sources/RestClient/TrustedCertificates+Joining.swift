extension TrustedCertificates {
  /// Combines all certificates; nil if there are none.
  init?(joining all: [TrustedCertificates?]) {
    let found = all.compactMap { $0 }
    guard !found.isEmpty else { return nil }
    pem = found.flatMap(\.pem)
    count = found.reduce(0) { $0 + $1.count }
  }
}
