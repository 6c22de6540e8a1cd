import Foundation
import ParseSwift

struct Isbn: ParseObject {
  var objectId: String?
  var createdAt: Date?
  var updatedAt: Date?
  var ACL: ParseACL?
  var originalData: Data?
  var value: String?

  static var className: String { "ISBN" }

  init() {}
  init(_ value: String) { self.value = value }
}

struct Author: ParseObject {
  var objectId: String?
  var createdAt: Date?
  var updatedAt: Date?
  var ACL: ParseACL?
  var originalData: Data?
  var name: String?

  init() {}
  init(_ name: String) { self.name = name }
}

struct Book: ParseObject {
  var objectId: String?
  var createdAt: Date?
  var updatedAt: Date?
  var ACL: ParseACL?
  var originalData: Data?
  var title: String?
  var year: Int?
  var rating: Double?
  var tags: [String]?
  var released: Date?
  var place: ParseGeoPoint?
  var area: ParsePolygon?
  var cover: ParseFile?
  var isbn: Isbn?
  var translators: [Author]?
  var details: [String: Int]?
  var authors: ParseRelation<Self>?

  init() {}
  init(_ title: String, _ year: Int? = nil) {
    self.title = title
    self.year = year
  }
}

/// Only for lists of numbered rows.
struct Row: ParseObject {
  var objectId: String?
  var createdAt: Date?
  var updatedAt: Date?
  var ACL: ParseACL?
  var originalData: Data?
  var n: Int?

  init() {}
  init(_ n: Int) { self.n = n }
}

struct User: ParseUser {
  var objectId: String?
  var createdAt: Date?
  var updatedAt: Date?
  var ACL: ParseACL?
  var originalData: Data?
  var username: String?
  var email: String?
  var emailVerified: Bool?
  var password: String?
  var authData: [String: [String: String]?]?
  var city: String?
}

struct Session: ParseSession {
  var objectId: String?
  var createdAt: Date?
  var updatedAt: Date?
  var ACL: ParseACL?
  var originalData: Data?
  var sessionToken = ""
  var user = User()
  var restricted: Bool?
  var createdWith: [String: String] = [:]
  var installationId = ""
  var expiresAt = Date.distantPast
}

struct Role: ParseRole {
  typealias RoleUser = User
  var objectId: String?
  var createdAt: Date?
  var updatedAt: Date?
  var ACL: ParseACL?
  var originalData: Data?
  var name: String?
}

struct Installation: ParseInstallation {
  var objectId: String?
  var createdAt: Date?
  var updatedAt: Date?
  var ACL: ParseACL?
  var originalData: Data?
  var installationId: String?
  var deviceType: String?
  var deviceToken: String?
  var badge: Int?
  var timeZone: String?
  var channels: [String]?
  var appName: String?
  var appIdentifier: String?
  var appVersion: String?
  var parseVersion: String?
  var localeIdentifier: String?
}

struct Config: ParseConfig {
  var greeting: String?
}
