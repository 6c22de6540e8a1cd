import Glibc
import JSON
import Support

/// The files of a new project. They work with the sandbox org as they are.
enum InitFiles {
  /// Names and contents, in the order in which they are listed.
  static func all() -> [(name: String, contents: String)] {
    [
      ("main.lua", script), ("bootconfig.json", bootconfig), ("userstore.json", soups), ("usersyncs.json", syncs),
      (".luarc.json", editor(library: library())), (ProjectDefinitions.fileName, definitions),
    ]
  }

  private static let script = """
    -- Syncs the contacts of an org into a local store and shows some of them.
    --
    --   tureen run main.lua [LAST NAME]
    --
    -- The files beside this script: bootconfig.json chooses the org, userstore.json defines the soups, usersyncs.json the syncs.
    local tureen = require "tureen"
    local mobilesync, smartstore, await = tureen.mobilesync, tureen.smartstore, tureen.await

    --- Returns the contacts with a last name from the store, without the network.
    local function find(last_name)
      local sql = "SELECT {contacts:_soup} FROM {contacts} WHERE {contacts:LastName} = ? ORDER BY {contacts:Id}"
      local query = { queryType = "smart", smartSql = sql, args = { last_name }, pageSize = 5 }
      local cursor = assert(await(smartstore.runSmartQuery, query))
      local found = {}
      for _, row in ipairs(cursor.currentPageOrderedEntries) do found[#found + 1] = row[1] end
      await(smartstore.closeCursor, cursor)
      return found, cursor.totalEntries
    end

    tureen.main(function(last_name)
      -- Fetches the changes since the last run; the first run fetches everything.
      local sync, err = await(mobilesync.reSync, "contactsDown")
      -- Without the org the script continues with the stored contacts.
      if not sync then io.stderr:write("not synced: ", tostring(err), "\\n") end

      local contacts, total = find(last_name or "Santos")
      for _, contact in ipairs(contacts) do print(contact.FirstName, contact.LastName, contact.Title) end
      print(("%d of %d"):format(#contacts, total))

      -- To change a contact, mark it; contactsUp then sends the marked ones:
      --   assert(await(mobilesync.markUpdated, "contacts", contacts[1], { Title = "Head of sales" }))
      --   assert(await(mobilesync.reSync, "contactsUp"))
    end, ...)

    """

  private static let bootconfig = """
    {
      "appName": "my-project",
      "appVersion": "1.0",
      "org": "sandbox"
    }

    """

  private static let soups = """
    {
      "soups": [
        {
          "soupName": "contacts",
          "indexes": [
            { "path": "Id", "type": "string" },
            { "path": "LastName", "type": "string" },
            { "path": "Email", "type": "string" },
            { "path": "__local__", "type": "string" },
            { "path": "__sync_id__", "type": "integer" }
          ]
        }
      ]
    }

    """

  private static let syncs = """
    {
      "syncs": [
        {
          "syncName": "contactsDown",
          "syncType": "syncDown",
          "soupName": "contacts",
          "target": {
            "type": "soql",
            "query": "SELECT Id, FirstName, LastName, Title, Email, Phone, LastModifiedDate FROM Contact"
          },
          "options": { "mergeMode": "LEAVE_IF_CHANGED" }
        },
        {
          "syncName": "contactsUp",
          "syncType": "syncUp",
          "soupName": "contacts",
          "target": {},
          "options": {
            "fieldlist": ["FirstName", "LastName", "Title", "Email", "Phone"],
            "mergeMode": "LEAVE_IF_CHANGED"
          }
        }
      ]
    }

    """

  private static var definitions: String {
    func value(_ text: String) -> [JSONValue] { (try? JSONValue(parsing: text)).map { [$0] } ?? [] }
    return ProjectDefinitions(stores: value(soups), syncs: value(syncs)).lua
  }

  /// Settings of lua-language-server, which editors ask for completion and checks.
  private static func editor(library: String?) -> String {
    let list = library.map { "\"\($0)\"" } ?? ""
    return """
      {
        "runtime": { "version": "Lua 5.4" },
        "workspace": { "library": [\(list)], "checkThirdParty": false }
      }

      """
  }

  /// The folder of the definitions for editors: the one installed with the command, else the one in the repository in which the
  /// command was built.
  static func library() -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = readlink("/proc/self/exe", &buffer, Int(PATH_MAX))
    guard count > 0 else { return nil }
    let folder = FileSystem.folder(of: String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self))
    let places =
      [FileSystem.folder(of: folder) + "/share/tureen/library"]
      + (1...4).map { steps in (0..<steps).reduce(folder) { path, _ in FileSystem.folder(of: path) } + "/bridge-spec/library" }
    return places.first { FileSystem.exists($0 + "/tureen.lua") && !$0.contains("\"") && !$0.contains("\\") }
  }
}
