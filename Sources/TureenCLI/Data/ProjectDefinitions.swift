import JSON
import Support

/// The names in a project's configuration files as definitions (LuaCATS), with which editors
/// complete soups, index paths and syncs in scripts.
struct ProjectDefinitions {
  static let fileName = "definitions.lua"
  private var soups: [String] = [], paths = [SoupPath.soup, SoupPath.entryId], syncs: [String] = []

  /// Paths that every soup has.
  private enum SoupPath {
    static let soup = "_soup", entryId = "_soupEntryId"
  }

  /// - Parameters:
  ///   - stores: The contents of `userstore.json` and `globalstore.json`.
  ///   - syncs: The contents of `usersyncs.json` and `globalsyncs.json`.
  init(stores: [JSONValue], syncs files: [JSONValue]) {
    for soup in stores.flatMap({ $0["soups"]?.arrayValue ?? [] }) {
      Self.add(soup["soupName"], to: &soups)
      for index in soup["indexes"]?.arrayValue ?? [] { Self.add(index["path"], to: &paths) }
    }
    for sync in files.flatMap({ $0["syncs"]?.arrayValue ?? [] }) { Self.add(sync["syncName"], to: &syncs) }
  }

  /// Reads the files of a folder.
  /// - Throws: ``CommandFailure`` if none of them is there, or one is not JSON.
  init(folder: String) throws(CommandFailure) {
    var read = 0
    func values(_ names: [String]) throws(CommandFailure) -> [JSONValue] {
      var values: [JSONValue] = []
      for name in names {
        let path = folder == "." ? name : "\(folder)/\(name)"
        guard let bytes = FileSystem.read(path) else { continue }
        read += 1
        do throws(JSONError) {
          values.append(try JSONValue(parsing: bytes))
        } catch {
          throw CommandFailure("\(path):\(error.position(in: bytes).line): \(error.message)", status: ExitStatus.configuration)
        }
      }
      return values
    }
    let stores = try values(["userstore.json", "globalstore.json"])
    let syncs = try values(["usersyncs.json", "globalsyncs.json"])
    guard read > 0 else {
      throw CommandFailure("\(folder) has neither userstore.json nor usersyncs.json", status: ExitStatus.scriptNotFound)
    }
    self.init(stores: stores, syncs: syncs)
  }

  /// Adds a name that is new. Names that would end the text in a definition are left out.
  private static func add(_ name: JSONValue?, to list: inout [String]) {
    guard let name = name?.stringValue, !name.utf8.contains(where: { $0 < UInt8(ascii: " ") || "\"\\|".utf8.contains($0) }),
      !list.contains(where: { $0 == name })
    else { return }
    list.append(name)
  }

  /// The definitions take the place of those in the library, where the names are strings.
  var lua: String {
    """
    ---@meta _
    -- The names in userstore.json and usersyncs.json, for completion in editors. Never loaded by a script.
    -- After a change of those files make it again: tureen init --definitions
    ---@diagnostic disable: duplicate-doc-alias, duplicate-type
    \(Self.alias("tureen.SoupName", soups))\(Self.alias("tureen.IndexPath", paths))\(Self.alias("tureen.SyncName", syncs))
    """
  }

  private static func alias(_ name: String, _ values: [String]) -> String {
    "\n---@alias \(name)\n---| string\n" + values.map { "---| \"\($0)\"\n" }.joined()
  }
}
