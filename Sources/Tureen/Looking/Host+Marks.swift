import LuaBridge
import SmartStore

/// The questions that a viewer asks again and again.
extension Host {
  /// Returns the existing stores: those of the user, then the global ones.
  package func existingStores() throws -> [StoreReference] {
    let user = try core().user
    return try [false, true].flatMap { isGlobal in
      try user.registry(isGlobal: isGlobal).storeNames(isGlobal: isGlobal).map { StoreReference(name: $0, isGlobal: isGlobal) }
    }
  }

  /// Returns a value that is another one after each commit to a store, by any process.
  package func mark(of store: StoreReference) throws -> StoreMark { try core().store(store).mark() }
}
