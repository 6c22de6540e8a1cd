import Support

extension RestError {
  /// OpenSSL is missing, so that neither accounts nor tokens can be told apart.
  package init(_ problem: OpenSSLProblem, connection name: String) {
    self.init(code: .notAuthenticated, message: "connection '\(name)': \(problem)", outcome: .notSent)
  }
}
