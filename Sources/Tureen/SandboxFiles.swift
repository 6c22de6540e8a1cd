import JSON
import RestClient
import Salesforce
import SmartStore
import Support

/// Where a home keeps the sandbox org and what is needed to sign in to it.
public enum SandboxFiles {
  /// The database file; its folder is made.
  public static func database(home: String) throws -> String {
    try FileSystem.makeDirectory("\(home)/sandbox")
    return "\(home)/sandbox/org.sqlite"
  }

  /// Files that stand beside the database and shape a new org: `schema.json`, and `seed.json` or what is in `seed/`, in
  /// order of names.
  public static func schemaAndSeeds(home: String) -> (schema: String?, seeds: [String]) {
    let folder = "\(home)/sandbox"
    let schema = "\(folder)/schema.json"
    let single = "\(folder)/seed.json"
    let several = ((try? FileSystem.entries(of: "\(folder)/seed")) ?? []).filter { $0.hasSuffix(".json") || $0.hasSuffix(".csv") }
      .sorted()
    return (
      FileSystem.exists(schema) ? schema : nil,
      (FileSystem.exists(single) ? [single] : []) + several.map { "\(folder)/seed/\($0)" }
    )
  }

  /// The folder of the sandbox's own certificate.
  public static func certificates(home: String) throws -> String {
    try FileSystem.makeDirectory("\(home)/sandbox")
    return "\(home)/sandbox/tls"
  }

  /// Writes the credentials where the org name `sandbox` looks for them, readable by their owner alone.
  /// - Returns: The file's path.
  public static func keepCredentials(home: String, _ credentials: JSONObject) throws -> String {
    try FileSystem.makeDirectory("\(home)/sandbox")
    let path = Org.sandboxCredentialsPath(home: home)
    try FileSystem.write(credentials.serialized() + [UInt8(ascii: "\n")], to: path)
    return path
  }

  /// Removes the credentials when they are still those of the server at `url`.
  public static func forgetCredentials(home: String, of url: String) {
    let path = Org.sandboxCredentialsPath(home: home)
    guard let text = FileSystem.read(path), let kept = try? JSONValue(parsing: text), kept["loginUrl"]?.stringValue == url
    else { return }
    try? FileSystem.removeTree(path)
  }

  /// How to sign in to the sandbox org that is served under this home.
  /// - Throws: ``HostError`` when its credentials are not there, as with `--tls`.
  public static func credentials(home: String) throws -> Credentials {
    try CredentialsSource.read(Org.sandboxCredentialsPath(home: home), defaultURL: nil).credentials
  }
}
