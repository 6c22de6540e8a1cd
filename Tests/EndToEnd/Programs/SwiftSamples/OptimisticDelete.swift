import Tureen

enum OptimisticDeleteSample {
  /// A list whose rows go at once when they are deleted, while the requests are on their way. What the server refuses comes back to its
  /// place, with the server's reason.
  /// Usage: OptimisticDelete HOME
  struct Contact: Decodable, Sendable {
    let id: String
    let name: String

    enum CodingKeys: String, CodingKey {
      case id = "Id"
      case name = "Name"
    }
  }

  struct Found: Decodable {
    let records: [Contact]
  }

  struct Case: Encodable {
    let contactId: String
    let subject: String

    enum CodingKeys: String, CodingKey {
      case contactId = "ContactId"
      case subject = "Subject"
    }
  }

  @MainActor
  final class ContactList {
    private let client: any RestClient
    private(set) var rows: [Contact]

    init(_ client: any RestClient) async throws {
      self.client = client
      let query = client.requestForQuery(
        "SELECT Id, Name FROM Contact ORDER BY Name, Id LIMIT 5")
      rows = try await client.send(request: query).decoded(as: Found.self).records
    }

    /// Removes a row and begins to delete its record.
    /// - Returns: Ends with the request.
    func delete(at position: Int) -> Task<Void, Never> {
      let contact = rows.remove(at: position), client = client
      let request = client.requestForDelete(withObjectType: "Contact", objectId: contact.id)
      return Task {
        do throws(RestClientError) {
          _ = try await client.send(request: request)
        } catch {
          self.rows.insert(contact, at: min(position, self.rows.count))
          print("\(contact.name) stays: \(error.message)")
        }
      }
    }

    func show(_ title: String) { print("\(title): \(rows.map(\.name).joined(separator: ", "))") }
  }

  @MainActor static func run() async throws {
    var settings = HostSettings()
    settings.home = CommandLine.arguments[1]
    let host = Host(settings: settings)
    let client = host.restClient
    let list = try await ContactList(client)
    list.show("before")
    // A contact with an open case cannot be deleted.
    let open = Case(contactId: list.rows[2].id, subject: "Still open")
    _ = try await client.send(
      request: client.requestForCreate(withObjectType: "Case", fields: open))
    let requests = [list.delete(at: 2), list.delete(at: 0)]
    list.show("at once")
    for request in requests { await request.value }
    list.show("after")
    // The handler form, for code that is not async.
    let unknown = client.requestForRetrieve(
      withObjectType: "Contact", objectId: "003000000000000AAA")
    client.send(request: unknown) { result in
      if case .failure(let error) = result { print("not found: \(error.status ?? 0)") }
    }
    await list.delete(at: 0).value
    await host.close()
  }
}
