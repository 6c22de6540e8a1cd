import JSON
import LuaBridge
import SmartStore
import Support

extension Host {
  /// Returns whether a store is an unfinished copy, which is not listed and which calls refuse to open. Blocks.
  public func isUnfinishedCopy(_ store: StoreReference) throws -> Bool {
    let core = try core(), parts = core.parts, org = core.user.org
    let engines: any StoreEngines =
      parts.settings.store?.engines(
        org: org.folder, user: org.userFolder, password: parts.settings.storePassword,
        looksOnly: parts.settings.looksOnly)
      ?? SQLiteEngines(
        userDirectory: parts.userFolder(org.folder, org.userFolder) + "/stores",
        globalDirectory: HostParts.globalDirectory(parts.home), recovery: .refuse, key: { nil })
    defer { engines.close() }
    return try engines.unfinishedCopies(isGlobal: store.isGlobal).contains { $0.hasSameBytes(as: store.name) }
  }
}
