import JSON
import RestClient
import Salesforce
import SmartStore
import Support

/// The files of the sandbox org in a home.
public enum SandboxFiles {
  /// Returns the path of the database file, and creates its folder.
  public static func database(home: String) throws -> String {
    try FileSystem.makeDirectory("\(home)/sandbox")
    return "\(home)/sandbox/org.sqlite"
  }

  /// Returns the files next to the database that define a new org: `schema.json`, `seed.json`, and the files in `seed/` sorted
  /// by name.
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

  /// Returns the folder of the sandbox's certificate.
  public static func certificates(home: String) throws -> String {
    try FileSystem.makeDirectory("\(home)/sandbox")
    return "\(home)/sandbox/tls"
  }

  /// Writes the credentials file that the org name `sandbox` uses, readable only by its owner.
  /// - Returns: The file's path.
  public static func keepCredentials(home: String, _ credentials: JSONObject) throws -> String {
    try FileSystem.makeDirectory("\(home)/sandbox")
    let path = Org.sandboxCredentialsPath(home: home)
    try FileSystem.write(credentials.serialized() + [UInt8(ascii: "\n")], to: path)
    return path
  }

  /// Removes the credentials if they still belong to the server at `url`.
  public static func forgetCredentials(home: String, of url: String) {
    let path = Org.sandboxCredentialsPath(home: home)
    guard let text = FileSystem.read(path), let kept = try? JSONValue(parsing: text), kept["loginUrl"]?.stringValue == url
    else { return }
    try? FileSystem.removeTree(path)
  }

  /// Returns the credentials of the sandbox org that is served for this home.
  /// - Throws: ``HostError`` if there is no credentials file, as with `--tls`.
  public static func credentials(home: String) throws -> Credentials {
    try CredentialsSource.read(Org.sandboxCredentialsPath(home: home), defaultURL: nil).credentials
  }
}
