import JSON

/// Serves users in the form of feeds and file lists.
enum ConnectRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.data("GET", "/chatter/users/:user") { call in .json(200, try card(of: try FileList.user(call), call)) }
  }

  /// - Throws: 404 if the user does not exist.
  static func card(of id: String, _ call: Call) throws -> JSONValue {
    guard
      let row = try call.reader.records(
        [id], of: try call.org.object("User"),
        fields: ["Name", "FirstName", "LastName", "Username", "Email", "Title", "IsActive"],
        version: call.version
      ).first ?? nil, let fields = try JSONValue(parsing: row).objectValue
    else { throw SandboxError.notFound() }
    let card: JSONObject = [
      "id": .string(id), "name": fields["Name"] ?? nil, "displayName": fields["Name"] ?? nil,
      "firstName": fields["FirstName"] ?? nil, "lastName": fields["LastName"] ?? nil, "username": fields["Username"] ?? nil,
      "email": fields["Email"] ?? nil, "title": fields["Title"] ?? nil, "isActive": fields["IsActive"] ?? nil,
      "type": "User", "userType": "Internal", "url": .string("\(call.dataRoot)/chatter/users/\(id)"),
      // Users of the sandbox have no pictures.
      "photo": ["photoVersionId": nil, "url": nil, "largePhotoUrl": nil, "smallPhotoUrl": nil],
    ]
    return .object(card)
  }
}
