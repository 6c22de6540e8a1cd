extension StoreError {
  /// Refuses to open an unfinished copy.
  /// - Parameters:
  ///   - what: The store, such as the path of its file.
  ///   - source: The store that it is a copy of; nil if that is not known.
  package static func unfinishedCopy(_ what: String, of source: String?) -> StoreError {
    StoreError(
      .unfinishedCopy,
      "\(what) is an unfinished copy\(source.map { " of \($0)" } ?? ""); run `tureen store copy` again to finish it, or remove "
        + "it with `tureen store remove`")
  }

  /// Refuses to copy into a store that exists.
  package static func storeExists(_ what: String) -> StoreError {
    StoreError(.storeExists, "\(what) exists already and was left unchanged; choose another name, or remove it first")
  }

  /// Refuses to continue a copy of another store.
  package static func copyOfAnother(_ what: String, of source: String) -> StoreError {
    StoreError(
      .storeExists,
      "\(what) is an unfinished copy of another store, \(source); remove it with `tureen store remove`, or finish that copy first"
    )
  }

  /// Refuses to continue a copy that another version has begun.
  package static func copyOfOtherVersion(_ what: String) -> StoreError {
    StoreError(
      .storeExists,
      "\(what) is an unfinished copy that another version of Tureen has begun; remove it with `tureen store remove`, and copy "
        + "again")
  }

  /// Another process has ended the copy that this one writes to.
  package static var copyEnded: StoreError {
    StoreError(.storeInUse, "another process has finished or removed this copy meanwhile")
  }
}

extension Store {
  /// Whether the store finds words in entries.
  package var supportsFullText: Bool { engine.supportsFullText }

  /// Makes an unfinished copy a store that can be opened.
  package func finishCopy() throws { try engine.finishCopy() }
}
