import LuaBridge
import SmartStore

/// Names for completion in tools.
extension Host {
  /// Returns the names of the soups in all existing stores, sorted and without duplicates. Does not create stores, and skips
  /// unreadable ones.
  public func soupNames() -> [String] {
    guard let core = try? core() else { return [] }
    var names: Set<String> = []
    for isGlobal in [false, true] {
      for name in (try? core.user.registry(isGlobal: isGlobal).storeNames(isGlobal: isGlobal)) ?? [] {
        let store = try? core.store(StoreReference(name: name, isGlobal: isGlobal))
        names.formUnion((try? store?.soupNames()) ?? [])
      }
    }
    return names.sorted()
  }

  /// The folder in which this host stores its data.
  public var homeDirectory: String {
    get throws { try core().home }
  }
}
