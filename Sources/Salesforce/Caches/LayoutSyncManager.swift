import JSON
import MobileSync

/// Selects one of a type's layouts. The server chooses the parts that are nil.
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

/// Fetches the page layouts of types and caches them in the soup `sfdcLayouts`.
///
/// - Note: Source: Mobile SDK, `LayoutSyncManager`; see ``MetadataSyncManager`` for the differences.
public struct LayoutSyncManager: Sendable {
  public static let soupName = "sfdcLayouts"
  private let cache: RecordCache

  /// Registers the soup if it does not exist yet. Blocks.
  /// - Throws: `StoreError`.
  public init(_ manager: SyncManager) throws { cache = try RecordCache(manager, soup: Self.soupName) }

  /// - Returns: nil if the cache has no layout for the key and the mode does not allow a request.
  /// - Throws: ``SyncError`` if the server could not be asked or refused.
  public func fetchLayout(_ key: LayoutKey, mode: FetchMode = .cacheFirst) async throws -> ObjectLayout? {
    let id = try LayoutSyncDownTarget(key.target).recordId
    return try await cache.fetch(id, target: key.target, mode: mode).map { ObjectLayout(rawData: $0) }
  }

  /// The variant with a callback, which is called exactly once.
  public func fetchLayout(
    _ key: LayoutKey, mode: FetchMode = .cacheFirst,
    completion: @escaping @Sendable (Result<ObjectLayout?, any Error>) -> Void
  ) {
    cache.manager.launch { completion(await Result(awaiting: { try await fetchLayout(key, mode: mode) })) }
  }
}

/// A page layout: sections with rows of items.
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

  /// The server's whole response, plus the members that the store adds.
  public let rawData: JSONObject
  public var id: String? { rawData["id"]?.stringValue }
  public var layoutType: String? { rawData["layoutType"]?.stringValue }
  public var mode: String? { rawData["mode"]?.stringValue }
  public var sections: [Section] { (rawData["sections"]?.arrayValue ?? []).compactMap(\.objectValue).map(Section.init) }
}
