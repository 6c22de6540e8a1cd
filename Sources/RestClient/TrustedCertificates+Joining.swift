extension TrustedCertificates {
  /// All of them together; nil for none.
  init?(joining all: [TrustedCertificates?]) {
    let found = all.compactMap { $0 }.flatMap(\.certificates)
    guard !found.isEmpty else { return nil }
    certificates = found
  }
}
