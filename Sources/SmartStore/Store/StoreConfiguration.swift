import JSON

/// The contents of `userstore.json` and `globalstore.json`: soups that a store has from the start.
public struct StoreConfiguration: Sendable {
  public struct SoupDefinition: Sendable {
    public let name: String
    public let indexSpecs: [IndexSpec]
  }

  public let soups: [SoupDefinition]

  /// - Throws: ``StoreError`` `.invalidConfiguration`, naming the file, the line, the key and the soup.
  public init(_ file: JSONFile) throws(StoreError) {
    guard let top = file.value.objectValue else { throw StoreConfiguration.invalid(file.problem("must hold an object")) }
    for key in top.keys where key != "soups" {
      throw StoreConfiguration.invalid(file.problem(key: key, "is not known here; known: soups"))
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
    guard let members = entry.objectValue, let name = members["soupName"]?.stringValue else {
      throw invalid(file.problem(key: "soupName", of: number - 1, in: "soups", "of soup \(number) must be a string"))
    }
    for key in members.keys where key != "soupName" && key != "indexes" {
      throw invalid(
        file.problem(
          key: key, of: number - 1, in: "soups", "of soup \(number) (\(name)) is not known; known: soupName, indexes"))
    }
    do {
      try Soup.validate(name: name)
    } catch {
      throw invalid(file.problem(key: "soupName", of: number - 1, in: "soups", "of soup \(number): \(error.message)"))
    }
    do {
      let specs = try IndexSpec.list(members["indexes"] ?? .null)
      try IndexSpec.validate(specs, soup: name)
      return SoupDefinition(name: name, indexSpecs: specs)
    } catch {
      throw invalid(file.problem(key: "indexes", of: number - 1, in: "soups", "of soup \(number) (\(name)): \(error.message)"))
    }
  }

  private static func invalid(_ problem: JSONFile.Problem) -> StoreError {
    StoreError(.invalidConfiguration, problem.description)
  }

  /// Registers the soups that the store does not have yet; those it has stay as they are.
  public func apply(to store: Store) throws {
    for soup in soups { try store.registerSoup(soup.name, indexSpecs: soup.indexSpecs) }
  }
}
