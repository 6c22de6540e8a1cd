/// The type of a field. Raw values are the names in describe.
enum FieldType: String, Sendable, CaseIterable {
  case id, reference, string, textarea, phone, email, url, picklist, multipicklist, combobox, boolean, int, double, currency,
    percent, date, datetime, time, base64, address, location

  var isText: Bool {
    switch self {
    case .string, .textarea, .phone, .email, .url, .picklist, .multipicklist, .combobox: return true
    default: return false
    }
  }
  var isReference: Bool { self == .id || self == .reference }
  var isNumber: Bool { [.int, .double, .currency, .percent].contains(self) }
  /// True for types made of other fields: read as an object, but neither written nor filtered.
  var isCompound: Bool { self == .address || self == .location }

  /// The column type in SQLite. Text compares without case (ASCII only), ids and dates byte by
  /// byte.
  var columnType: String {
    switch self {
    case .boolean, .int: return "INTEGER"
    case .double, .currency, .percent: return "REAL"
    case .id, .reference, .date, .datetime, .time, .address, .location: return "TEXT"
    case .base64: return "BLOB"
    default: return "TEXT COLLATE NOCASE"
    }
  }

  /// The XML type in describe.
  var soapType: String {
    switch self {
    case .id, .reference: return "tns:ID"
    case .boolean: return "xsd:boolean"
    case .int: return "xsd:int"
    case .double, .currency, .percent: return "xsd:double"
    case .date: return "xsd:date"
    case .datetime: return "xsd:dateTime"
    case .time: return "xsd:time"
    case .base64: return "xsd:base64Binary"
    case .address: return "urn:address"
    case .location: return "urn:location"
    default: return "xsd:string"
    }
  }
}
