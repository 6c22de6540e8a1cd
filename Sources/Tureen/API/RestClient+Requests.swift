import FoundationEssentials
import JSON
import RestClient
import Salesforce

/// Requests of the Salesforce REST API by the names that the native SDK gives them.
extension RestClient {
  /// A SOQL query. A page has `batchSize` records, 200 to 2,000; nil for the server's own 2,000.
  public func requestForQuery(_ soql: String, batchSize: Int? = nil) -> RestRequest {
    requests.query(soql: soql, batchSize: batchSize)
  }

  /// One record, with the fields that you name; with every readable one if you name none.
  public func requestForRetrieve(withObjectType type: String, objectId: String, fields: [String] = []) -> RestRequest {
    requests.retrieve(type: type, id: objectId, fields: fields)
  }

  /// Creates a record. The fields are a dictionary, or a value whose members are named like the fields.
  /// - Throws: ``Tureen/RestClientError`` `.notSent` for what cannot be JSON.
  public func requestForCreate(withObjectType type: String, fields: some Encodable) throws(RestClientError) -> RestRequest {
    requests.createRecord(type: type, body: try Self.body(fields))
  }

  /// Changes fields of a record; the others stay.
  /// - Throws: As ``requestForCreate(withObjectType:fields:)``.
  public func requestForUpdate(
    withObjectType type: String, objectId: String, fields: some Encodable
  ) throws(RestClientError) -> RestRequest {
    requests.updateRecord(type: type, id: objectId, body: try Self.body(fields))
  }

  /// Changes the record whose external id field has this value, or creates it.
  /// - Throws: As ``requestForCreate(withObjectType:fields:)``.
  public func requestForUpsert(
    withObjectType type: String, externalIdField: String, externalId: String, fields: some Encodable
  ) throws(RestClientError) -> RestRequest {
    requests.upsert(type: type, externalIdField: externalIdField, externalId: externalId, body: try Self.body(fields))
  }

  /// Deletes a record.
  public func requestForDelete(withObjectType type: String, objectId: String) -> RestRequest {
    requests.deleteRecord(type: type, id: objectId)
  }

  private static func body(_ fields: some Encodable) throws(RestClientError) -> [UInt8] {
    do {
      return Array(try JSONEncoder().encode(fields))
    } catch {
      throw RestClientError.notSent(message: "the fields cannot be sent as JSON: \(error)", cause: error)
    }
  }

  /// Sends a request and waits for the whole answer.
  /// - Throws: ``Tureen/RestClientError``; a task that is cancelled gets `.notSent`, or `.noResponse` once the request had left.
  public func send(request: RestRequest) async throws(RestClientError) -> RestResponse {
    do {
      return try await send(request)
    } catch {
      throw RestClientError(error)
    }
  }

  /// The same for code that is not `async`. Returns at once; the handler is called once, from any thread.
  public func send(request: RestRequest, handler: @escaping @Sendable (Result<RestResponse, RestClientError>) -> Void) {
    Task {
      do throws(RestClientError) {
        handler(.success(try await send(request: request)))
      } catch {
        handler(.failure(error))
      }
    }
  }
}

extension RestResponse {
  /// The body as a value.
  /// - Throws: ``Tureen/RestClientError`` `.emptyResponse`, `.undecodableResponse`.
  public func decoded<T: Decodable>(as type: T.Type = T.self) throws(RestClientError) -> T {
    guard body.count > 0 else { throw RestClientError.emptyResponse(status: status) }
    do {
      return try JSONDecoder().decode(type, from: body.withUnsafeBytes { Data($0) })
    } catch {
      let what = (error as? DecodingError).map { DecodingFailure.sentence($0) } ?? "\(error)"
      throw RestClientError.undecodableResponse(message: "the answer is no \(type): \(what)", body: body.text)
    }
  }
}
