import Foundation
import ParseSwift

/// Users, sessions, roles, schemas and the server itself.
func checkAccounts(_ checks: inout Checks) async {
  await checks.check("sign-up, current user, change, logout, login") {
    var user = User()
    (user.username, user.password, user.email, user.city) = ("grace", "p4ss", "grace@example.org", "Oslo")
    let signed = try await user.signup()
    try expect(try await User.current().username, "grace", "the current user")
    let first = try await User.sessionToken()
    try expect(first.hasPrefix("r:"), true, "the token")
    var part = try await User.current().mergeable
    part.city = "Rome"
    _ = try await part.save()
    try expect(try await User.current().fetch().city, "Rome", "a changed column")
    try await User.logout()
    try await refusal(.usernameTaken) { try await User.signup(username: "grace", password: "x") }
    try await refusal(.objectNotFound) { try await User.login(username: "grace", password: "wrong") }
    let again = try await User.login(username: "grace", password: "p4ss")
    try expect(again.objectId, signed.objectId, "the same user")
    try expect(again.city, "Rome", "its column")
    try expect(try await User.sessionToken() != first, true, "a new token")
    try await refusal(.invalidSessionToken) { try await User().become(sessionToken: first) }
  }

  await checks.check("a private user is hidden from others") {
    let grace = try await User.login(username: "grace", password: "p4ss")
    try expect(try await User.query("username" == "grace").find().count, 1, "found by itself")
    try await User.logout()
    try expect(try await User.query().find().count, 0, "a list without a session")
    try await refusal(.objectNotFound) { try await User(objectId: grace.objectId!).fetch() }
  }

  await checks.check("a password change ends the other sessions") {
    _ = try await User.login(username: "grace", password: "p4ss")
    let old = try await User.sessionToken()
    var part = try await User.current().mergeable
    part.password = "n3w"
    _ = try await part.save()
    try await refusal(.invalidSessionToken) { try await User().become(sessionToken: old) }
    try? await User.logout()
    try await refusal(.objectNotFound) { try await User.login(username: "grace", password: "p4ss") }
    _ = try await User.login(username: "grace", password: "n3w")
    try await User.logout()
  }

  await checks.check("anonymous sign-up") {
    let user = try await User.anonymous.login()
    try expect(user.username?.isEmpty, false, "the made-up name")
    try expect(try await User.current().objectId, user.objectId, "the current user")
    try await User.logout()
  }

  await checks.check("sessions of the current user") {
    _ = try await User.login(username: "grace", password: "n3w")
    let sessions = try await Session.query().find()
    try expect(sessions.isEmpty, false, "sessions")
    try expect(sessions.contains { $0.sessionToken.hasPrefix("r:") }, true, "with tokens")
    try await User.logout()
    try await refusal(.invalidSessionToken) { try await Session.query().find() }
  }

  await checks.check("objects of one user") {
    let grace = try await User.login(username: "grace", password: "n3w")
    var book = Book("Private")
    book.ACL = ParseACL()
    book.ACL?.setReadAccess(objectId: grace.objectId!, value: true)
    book.ACL?.setWriteAccess(objectId: grace.objectId!, value: true)
    book = try await book.save()
    try expect(try await Book(objectId: book.objectId!).fetch().title, "Private", "its owner reads it")
    try await User.logout()
    let id = book.objectId!
    try await refusal(.objectNotFound) { try await Book(objectId: id).fetch() }
  }

  await checks.check("roles") {
    let grace = try await User.login(username: "grace", password: "n3w")
    var acl = ParseACL()
    acl.publicRead = true
    acl.publicWrite = true
    let role = try await Role(name: "Editors", acl: acl).create()
    _ = try await role.users!.add([grace]).save()
    try expect(try await role.queryUsers().find().compactMap(\.username), ["grace"], "users of the role")
    let child = try await Role(name: "Interns", acl: acl).create()
    _ = try await role.roles!.add([child]).save()
    try expect(try await role.queryRoles().find().compactMap(\.name), ["Interns"], "roles of the role")
    var book = Book("For editors")
    book.ACL = ParseACL()
    book.ACL?.setReadAccess(roleName: "Editors", value: true)
    book = try await book.save()
    try expect(try await Book(objectId: book.objectId!).fetch().title, "For editors", "read through the role")
    try await User.logout()
    try await refusal(.duplicateValue) { try await Role(name: "Editors", acl: acl).create() }
  }

  await checks.check("schemas with the primary key") {
    let made = try await ParseSchema<Row>().fetch()
    try expect(made.getFields()["n"] != nil, true, "the column of Row")
    let options = ParseFieldOptions<String>(required: false, defauleValue: nil)
    let wider = try await ParseSchema<Row>().addField("note", type: .string, options: options).update()
    try expect(wider.getFields()["note"] != nil, true, "a column that was added")
    try await ParseSchema<Row>().purge()
    try expect(try await Row.query().count(), 0, "rows after a purge")
    try await ParseSchema<Row>().delete()
    try await refusal(.invalidClassName) { try await ParseSchema<Row>().fetch() }
  }

  await checks.check("health, information, config, installation") {
    try expect(try await ParseServer.health(), .ok, "health")
    let information = try await ParseServer.information(options: [.usePrimaryKey])
    try expect(information.version?.description, "7.4.0", "version")
    try expect(try await Config(greeting: "hello").save(), true, "config saved")
    try expect(try await Config().fetch().greeting, "hello", "config read")
    var installation = try await Installation.current()
    installation.channels = ["news"]
    let saved = try await installation.save()
    try expect(saved.objectId != nil, true, "installation saved")
  }
}
