import JSON
import RecordScan

/// Pages of entries that scripts save. Besides the index values they have, for each entry, its id,
/// its flags and the time of its last write, which decide how it is saved.
extension PagePlan {
  /// - Parameter externalIdPath: The path that finds the row of an entry; `_soupEntryId` for its id.
  package init(savingInto soup: Soup, externalIdPath: String) {
    self.init(
      soup: soup.name, specs: soup.specs, idPath: externalIdPath,
      extraPaths: [SoupField.entryId] + SoupField.localFlags + [SoupField.lastModified],
      ownedKeys: [SoupField.entryId, SoupField.lastModified])
  }
}

extension ScannedPage {
  /// Positions of the entry's own fields after those of the index specs. The flags start at `local`.
  private enum Extra { static let entryId = 0, local = 1, isCreated = 2, stamp = 1 + SoupField.localFlags.count }

  private func own(_ record: Int, _ extra: Int) -> ScannedValue { scanner.value(record: record, field: plan.firstExtra + extra) }

  /// - Returns: The id of the row to update; nil to create one.
  /// - Throws: ``StoreError`` `.invalidEntry`.
  package func entryId(record i: Int) throws -> Int64? {
    let value = own(i, Extra.entryId)
    switch value.kind {
    case .missing, .null: return nil
    case .number: if case .integer(let id) = JSONValue.number(parsing: value.slice(in: bytes)) { return id }
    default: break
    }
    throw StoreError(.invalidEntry, "entry \(i + 1) for soup \(plan.soup): _soupEntryId must be an integer")
  }

  /// Whether the entry is marked as changed locally.
  package func isMarkedDirty(record i: Int) -> Bool { own(i, Extra.local).isFlagSet(in: bytes) }

  /// Whether the entry is marked as created locally.
  package func isMarkedCreated(record i: Int) -> Bool { own(i, Extra.isCreated).kind == .true }

  /// Returns the time of the last write that the script has read; nil if the entry has none.
  package func readStamp(record i: Int) -> Int64? {
    let stamp = own(i, Extra.stamp)
    guard stamp.kind == .number, case .integer(let read) = JSONValue.number(parsing: stamp.slice(in: bytes)) else { return nil }
    return read
  }

  /// Rejects flags that are neither true nor false: no sync would send such an edit.
  /// - Throws: ``StoreError`` `.invalidEntry`.
  package func checkFlags(record i: Int) throws {
    for (n, flag) in SoupField.localFlags.enumerated() {
      switch own(i, Extra.local + n).kind {
      case .missing, .null, .true, .false: continue
      default:
        throw StoreError(
          .invalidEntry, "entry \(i + 1) for soup \(plan.soup): '\(flag)' must be true or false; it marks local changes")
      }
    }
  }
}
