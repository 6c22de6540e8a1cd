import Glibc
import RestClient
import Support

/// Reads the secrets of connections from environment variables, files and commands.
enum ConnectionSecrets {
  static let reading = SecretReading { (source) throws(SecretReading.Failure) in
    do {
      return try text(of: source)
    } catch let failure as SecretReading.Failure {
      throw failure
    } catch let problem as SecretReader.Problem {
      throw SecretReading.Failure("\(source.name): \(problem.what)", isMissing: false)
    } catch {
      throw SecretReading.Failure("\(error)", isMissing: false)
    }
  }

  private static func text(of source: SecretSource) throws -> String {
    let secret: Secret
    switch source {
    case .environment(let name):
      guard let value = getenv(name), strlen(value) > 0 else {
        throw SecretReading.Failure("\(source.name) is not set", isMissing: true)
      }
      secret = try SecretReader.variable(value, limit: Tuning.connectionSecretBytes)
    case .file(let path):
      guard FileSystem.exists(path) else { throw SecretReading.Failure("\(source.name) does not exist", isMissing: true) }
      try PrivateFile.check(path, what: "the file with a secret")
      secret = try SecretReader.file(path, limit: Tuning.connectionSecretBytes)
    case .command(let words):
      secret = try SecretReader.command(
        words, timeoutMs: Tuning.keyCommandTimeoutMs, limit: Tuning.connectionSecretBytes)
    }
    let text = secret.withBytes { String(validating: $0, as: UTF8.self) }
    guard let text, text.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else {
      throw SecretReading.Failure("\(source.name) contains a line break or bytes that cannot be sent", isMissing: false)
    }
    return text
  }
}
