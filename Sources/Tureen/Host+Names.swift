import LuaBridge
import SmartStore

/// What there is, for tools that help people to type.
extension Host {
  /// The names of the soups in all stores that exist, each once, from a to z. Creates no store; what cannot be read is left out.
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

  /// Where this host keeps its data.
  public var homeDirectory: String {
    get throws { try core().home }
  }
}
