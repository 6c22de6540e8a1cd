import JSON
import MobileSync

/// Which layout of a type is meant. What is nil is left to the server.
public struct LayoutKey: Sendable, Equatable {
  public var type: String
  /// `Large`, `Medium` or `Small`.
  public var formFactor: String?
  /// `Compact` or `Full`.
  public var layoutType: String?
  /// `Create`, `Edit` or `View`.
  public var mode: String?
  public var recordTypeId: String?

  public init(
    _ type: String, formFactor: String? = nil, layoutType: String? = nil, mode: String? = nil, recordTypeId: String? = nil
  ) {
    self.type = type
    self.formFactor = formFactor
    self.layoutType = layoutType
    self.mode = mode
    self.recordTypeId = recordTypeId
  }

  var target: JSONObject {
    var target: JSONObject = ["type": "layout", "sobjectType": .string(type)]
    let parts = ["formFactor": formFactor, "layoutType": layoutType, "mode": mode, "recordTypeId": recordTypeId]
    for (key, value) in parts where value != nil { target[key] = value.map { .string($0) } }
    return target
  }
}

/// How types are laid out for the user, cached in the soup `sfdcLayouts`.
///
/// - Note: Source: Mobile SDK, `LayoutSyncManager`; see ``MetadataSyncManager`` for the differences.
public struct LayoutSyncManager: Sendable {
  public static let soupName = "sfdcLayouts"
  private let cache: RecordCache

  /// Registers the soup when it is missing. Blocks.
  /// - Throws: `StoreError`.
  public init(_ manager: SyncManager) throws { cache = try RecordCache(manager, soup: Self.soupName) }

  /// - Returns: nil when the cache has none and the mode asks no further.
  /// - Throws: ``SyncError``: why the server's answer could not be had.
  public func fetchLayout(_ key: LayoutKey, mode: FetchMode = .cacheFirst) async throws -> ObjectLayout? {
    let id = try LayoutSyncDownTarget(key.target).recordId
    return try await cache.fetch(id, target: key.target, mode: mode).map { ObjectLayout(rawData: $0) }
  }

  /// The same with a callback, which is called once.
  public func fetchLayout(
    _ key: LayoutKey, mode: FetchMode = .cacheFirst,
    completion: @escaping @Sendable (Result<ObjectLayout?, any Error>) -> Void
  ) {
    cache.manager.launch { completion(await Result(awaiting: { try await fetchLayout(key, mode: mode) })) }
  }
}

/// One layout: sections of rows of items.
public struct ObjectLayout: Sendable, Equatable {
  public struct Section: Sendable, Equatable {
    public let rawData: JSONObject
    public var id: String? { rawData["id"]?.stringValue }
    public var heading: String? { rawData["heading"]?.stringValue }
    public var isCollapsible: Bool { rawData["collapsible"]?.boolValue ?? false }
    public var usesHeading: Bool { rawData["useHeading"]?.boolValue ?? false }
    public var columns: Int { Int(clamping: rawData["columns"]?.integerValue ?? 0) }
    public var rows: Int { Int(clamping: rawData["rows"]?.integerValue ?? 0) }
    /// The items, row by row.
    public var layoutRows: [[Item]] {
      (rawData["layoutRows"]?.arrayValue ?? []).map { row in
        (row["layoutItems"]?.arrayValue ?? []).compactMap(\.objectValue).map(Item.init)
      }
    }
  }

  public struct Item: Sendable, Equatable {
    public let rawData: JSONObject
    public var label: String? { rawData["label"]?.stringValue }
    public var lookupIdApiName: String? { rawData["lookupIdApiName"]?.stringValue }
    public var isEditableForNew: Bool { rawData["editableForNew"]?.boolValue ?? false }
    public var isEditableForUpdate: Bool { rawData["editableForUpdate"]?.boolValue ?? false }
    public var isRequired: Bool { rawData["required"]?.boolValue ?? false }
    public var isSortable: Bool { rawData["sortable"]?.boolValue ?? false }
    public var components: [JSONValue] { rawData["layoutComponents"]?.arrayValue ?? [] }
  }

  /// The whole answer, with the members that the store adds.
  public let rawData: JSONObject
  public var id: String? { rawData["id"]?.stringValue }
  public var layoutType: String? { rawData["layoutType"]?.stringValue }
  public var mode: String? { rawData["mode"]?.stringValue }
  public var sections: [Section] { (rawData["sections"]?.arrayValue ?? []).compactMap(\.objectValue).map(Section.init) }
}
