import FoundationEssentials
import JSON
import SmartStore

/// The decoded rows of a smart query. Each column is decoded into the member of the same name.
///
///     struct Person: Decodable { let name: String; let phone: String? }
///     let sql = "SELECT {people:Name} AS name, {people:Phone} AS phone FROM {people} ORDER BY {people:Name}"
///     for try await person in store.rows(Person.self, sql) { print(person.name) }
///
/// A page is read from the current data when its first row is requested, so the query needs an order. The column
/// `{people:_soup}`, without `AS`, is decoded into the member `soup` and contains the complete entry. A store's booleans are the
/// numbers 0 and 1.
public struct SmartRows<Row: Decodable & Sendable>: AsyncSequence, Sendable {
  public typealias Element = Row
  let store: Store
  let spec: QuerySpec

  public func makeAsyncIterator() -> Iterator { Iterator(store: store, spec: spec) }

  public struct Iterator: AsyncIteratorProtocol {
    private let store: Store
    private let spec: QuerySpec
    private var rows: [Row] = []
    private var position = 0
    private var page = 0
    private var isLast = false

    fileprivate init(store: Store, spec: QuerySpec) {
      self.store = store
      self.spec = spec
    }

    /// Returns the next row; nil at the end.
    /// - Throws: ``SmartStore/StoreError`` of the query, and `.invalidEntry` for a row that cannot be decoded, naming the row and
    ///   the member.
    public mutating func next() async throws -> Row? {
      while position == rows.count {
        guard !isLast else { return nil }
        let read = try await store.namedRows(spec, pageIndex: page)
        rows = try RowDecoding.rows(read, first: page * spec.pageSize)
        (position, page, isLast) = (0, page + 1, read.isLast)
      }
      defer { position += 1 }
      return rows[position]
    }
  }
}

extension Store {
  /// Returns the decoded rows of a smart query: see ``Tureen/SmartRows``.
  /// - Parameters:
  ///   - type: The type of a row.
  ///   - smartSql: A SELECT over `{soup:path}`, with an order.
  ///   - arguments: The values of the placeholders `?`.
  ///   - pageSize: The number of rows that are read together.
  public func rows<Row: Decodable & Sendable>(
    _ type: Row.Type = Row.self, _ smartSql: String, arguments: [JSONValue] = [], pageSize: Int = 500
  ) -> SmartRows<Row> {
    SmartRows(store: self, spec: .smart(smartSql, arguments: arguments, pageSize: pageSize))
  }

  /// Returns the current rows of a smart query, and again after each change of its soups. Changes before the next element is
  /// requested are merged. The sequence ends when the store closes.
  /// - Parameters:
  ///   - type: The type of a row.
  ///   - smartSql: A SELECT over `{soup:path}`, with an order.
  ///   - arguments: The values of the placeholders `?`.
  ///   - limit: The maximum number of rows of an element.
  /// - Throws: ``SmartStore/StoreError`` of the query.
  public func observe<Row: Decodable & Sendable>(
    _ type: Row.Type, _ smartSql: String, arguments: [JSONValue] = [], limit: Int = 1000
  ) throws -> some AsyncSequence<[Row], any Error> {
    try observeNamedRows(.smart(smartSql, arguments: arguments, pageSize: limit)).map { try RowDecoding.rows($0, first: 0) }
  }
}

/// Decodes rows: each row, an array, becomes an object, which is then decoded.
private enum RowDecoding {
  /// - Parameter first: The number of the first row, from 0.
  static func rows<Row: Decodable>(_ page: NamedRows, first: Int) throws -> [Row] {
    let rows = try JSONValue(parsing: page.text).arrayValue ?? []
    let objects = rows.map { row in
      // A null column becomes a missing member.
      JSONValue.object(
        JSONObject(zip(page.names, row.arrayValue ?? []).filter { !$0.1.isNull }.map { ($0.0, $0.1) }))
    }
    do {
      return try JSONDecoder().decode([Row].self, from: Data(JSONValue.array(objects).serialized()))
    } catch let error as DecodingError {
      throw StoreError(
        .invalidEntry,
        "\(Row.self): \(DecodingFailure.sentence(error, firstRow: first)); columns: "
          + page.names.joined(separator: ", "))
    }
  }
}

/// Describes decoding errors for people.
enum DecodingFailure {
  /// - Parameter firstRow: The number of the first element, from 0; nil when no list was decoded.
  static func sentence(_ error: DecodingError, firstRow: Int? = nil) -> String {
    switch error {
    case .keyNotFound(let key, let context): "\(place(context.codingPath, firstRow))'\(key.stringValue)' is missing"
    case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
      "\(place(context.codingPath, firstRow))expected \(type)"
    case .dataCorrupted(let context): "\(place(context.codingPath, firstRow))\(context.debugDescription)"
    @unknown default: "\(error)"
    }
  }

  private static func place(_ path: [any CodingKey], _ firstRow: Int?) -> String {
    var path = path[...], text = ""
    if let firstRow, let row = path.first?.intValue {
      text = "row \(firstRow + row + 1), "
      path = path.dropFirst()
    }
    return path.isEmpty ? text : text + path.map(\.stringValue).joined(separator: ".") + ": "
  }
}
