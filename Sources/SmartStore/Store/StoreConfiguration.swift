import JSON

/// The contents of `userstore.json` and `globalstore.json`: the initial soups of a store.
public struct StoreConfiguration: Sendable {
  public struct SoupDefinition: Sendable {
    public let name: String
    public let indexSpecs: [IndexSpec]
  }

  public let soups: [SoupDefinition]

  /// - Throws: ``StoreError`` `.invalidConfiguration`, naming the file, the line, the key and the
  ///   soup.
  public init(_ file: JSONFile) throws(StoreError) {
    guard let top = file.value.objectValue else { throw StoreConfiguration.invalid(file.problem("must contain an object")) }
    if let unknown = KnownKeys(["soups"]).unknown(in: top) {
      throw StoreConfiguration.invalid(file.problem(key: unknown.key, unknown.complaint))
    }
    guard let entries = top["soups"]?.arrayValue else {
      throw StoreConfiguration.invalid(file.problem(key: "soups", "must be an array"))
    }
    var soups: [SoupDefinition] = []
    for (i, entry) in entries.enumerated() {
      let soup = try StoreConfiguration.soup(entry, i + 1, file)
      guard !soups.contains(where: { $0.name == soup.name }) else {
        throw StoreConfiguration.invalid(
          file.problem(key: "soupName", of: i, in: "soups", "of soup \(i + 1): '\(soup.name)' is used twice"))
      }
      soups.append(soup)
    }
    self.soups = soups
  }

  private static func soup(_ entry: JSONValue, _ number: Int, _ file: JSONFile) throws(StoreError) -> SoupDefinition {
    func wrong(_ key: String, _ what: String) -> StoreError {
      invalid(file.problem(key: key, of: number - 1, in: "soups", "of soup \(number)\(what)"))
    }
    let members = entry.objectValue ?? [:], label = members["soupName"]?.stringValue.map { " (\($0))" } ?? ""
    if let unknown = keys.unknown(in: members) { throw wrong(unknown.key, "\(label) \(unknown.complaint)") }
    guard let name = members["soupName"]?.stringValue else { throw wrong("soupName", " must be a string") }
    do {
      try Soup.validate(name: name)
    } catch {
      throw wrong("soupName", ": \(error.message)")
    }
    do {
      let specs = try indexSpecs(members["indexes"] ?? .null, of: number, name, file)
      try IndexSpec.validate(specs, soup: name)
      return SoupDefinition(name: name, indexSpecs: specs)
    } catch {
      throw error.code == .invalidConfiguration ? error : wrong("indexes", " (\(name)): \(error.message)")
    }
  }

  private static let keys = KnownKeys(["soupName", "indexes"])

  /// Parses the index specs; errors name the line.
  private static func indexSpecs(
    _ json: JSONValue, of number: Int, _ name: String, _ file: JSONFile
  ) throws(StoreError) -> [IndexSpec] {
    guard let elements = json.arrayValue else { return try IndexSpec.list(json) }
    var specs: [IndexSpec] = []
    for (i, element) in elements.enumerated() {
      do {
        specs.append(try IndexSpec(element, position: i))
      } catch {
        let path: [JSONFile.Step] = [.key("soups"), .position(number - 1), .key("indexes"), .position(i)]
        throw invalid(file.problem(at: path, "'indexes' of soup \(number) (\(name)): \(error.message)"))
      }
    }
    return specs
  }

  private static func invalid(_ problem: JSONFile.Problem) -> StoreError {
    StoreError(.invalidConfiguration, problem.description)
  }

  /// Registers the soups that the store lacks; existing ones stay unchanged.
  public func apply(to store: Store) throws {
    for soup in soups { try store.registerSoup(soup.name, indexSpecs: soup.indexSpecs) }
  }
}
