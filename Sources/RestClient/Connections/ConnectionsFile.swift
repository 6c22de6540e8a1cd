import JSON

extension ConnectionSettings {
  /// Reads the connections of a `connections.json`, in the order of the file.
  ///
  /// - Parameters:
  ///   - file: The parsed file.
  ///   - folder: The absolute path of the file's folder, the base of relative file names.
  /// - Throws: `JSONFile.Problem` with file, line and key.
  public static func read(_ file: JSONFile, folder: String) throws(JSONFile.Problem) -> [ConnectionSettings] {
    guard let members = file.value.objectValue else {
      throw file.problem("must contain an object with a member for each connection, not \(file.value.kindName)")
    }
    do {
      return try read(members, from: Origin(folder: folder, allowsPlainSecrets: false))
    } catch {
      let place = error.problem.keys.map { JSONFile.Step.key($0) }
      throw file.problem(at: [.key(error.connection)] + place, error.description)
    }
  }

  /// Reads the connections of an object, such as the `connections` of `tureen.configure`.
  public static func read(
    _ members: JSONObject, from origin: Origin
  ) throws(ConnectionsProblem) -> [ConnectionSettings] {
    var found: [ConnectionSettings] = []
    for (name, value) in members {
      do throws(ConnectionProblem) {
        if let other = found.first(where: { $0.name.equalsIgnoringCase(name) }) {
          throw ConnectionProblem([], "differs from '\(other.name)' only in letter case; names are unique ignoring case")
        }
        found.append(try ConnectionSettings(name: name, json: value, from: origin))
      } catch {
        throw ConnectionsProblem(connection: name, problem: error)
      }
    }
    return found
  }
}

/// Reports what is wrong with one of several connections.
public struct ConnectionsProblem: Error, Sendable, Equatable, CustomStringConvertible {
  public let connection: String
  public let problem: ConnectionProblem

  /// For example: "connection 'github': 'auth.token' must not be plain text".
  public var description: String {
    guard !problem.keys.isEmpty else { return "connection '\(connection)' \(problem.what)" }
    return "connection '\(connection)': '\(problem.keys.joined(separator: "."))' \(problem.what)"
  }
}
