extension TrustedCertificates {
  /// Combines all certificates; nil if there are none.
  init?(joining all: [TrustedCertificates?]) {
    let found = all.compactMap { $0 }.flatMap(\.certificates)
    guard !found.isEmpty else { return nil }
    certificates = found
  }
}
