import FoundationEssentials
import JSON
import RestClient
import Salesforce

/// Requests of the Salesforce REST API under the names of the native SDK.
extension RestClient {
  /// Returns the request of a SOQL query. A page has `batchSize` records, 200 to 2,000; nil for the server's default of 2,000.
  public func requestForQuery(_ soql: String, batchSize: Int? = nil) -> RestRequest {
    requests.query(soql: soql, batchSize: batchSize)
  }

  /// Returns the request for one record with the given fields, or with all readable fields if none are given.
  public func requestForRetrieve(withObjectType type: String, objectId: String, fields: [String] = []) -> RestRequest {
    requests.retrieve(type: type, id: objectId, fields: fields)
  }

  /// Returns the request that creates a record. The fields are a dictionary, or a value whose members are named like the fields.
  /// - Throws: ``Tureen/RestClientError`` `.notSent` if the fields cannot be encoded as JSON.
  public func requestForCreate(withObjectType type: String, fields: some Encodable) throws(RestClientError) -> RestRequest {
    requests.createRecord(type: type, body: try Self.body(fields))
  }

  /// Returns the request that changes fields of a record; the other fields are kept.
  /// - Throws: As ``requestForCreate(withObjectType:fields:)``.
  public func requestForUpdate(
    withObjectType type: String, objectId: String, fields: some Encodable
  ) throws(RestClientError) -> RestRequest {
    requests.updateRecord(type: type, id: objectId, body: try Self.body(fields))
  }

  /// Returns the request that changes the record whose external id field has this value, or creates it.
  /// - Throws: As ``requestForCreate(withObjectType:fields:)``.
  public func requestForUpsert(
    withObjectType type: String, externalIdField: String, externalId: String, fields: some Encodable
  ) throws(RestClientError) -> RestRequest {
    requests.upsert(type: type, externalIdField: externalIdField, externalId: externalId, body: try Self.body(fields))
  }

  /// Returns the request that deletes a record.
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

  /// Sends a request and waits for the complete answer.
  /// - Throws: ``Tureen/RestClientError``: for a cancelled task `.notSent`, or `.noResponse` if the request was already sent.
  public func send(request: RestRequest) async throws(RestClientError) -> RestResponse {
    do {
      return try await send(request)
    } catch {
      throw RestClientError(error)
    }
  }

  /// Sends a request, for code that is not `async`. Returns immediately; the handler is called once, from any thread.
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
  /// Decodes the JSON body.
  /// - Throws: ``Tureen/RestClientError`` `.emptyResponse`, `.undecodableResponse`.
  public func decoded<T: Decodable>(as type: T.Type = T.self) throws(RestClientError) -> T {
    guard body.count > 0 else { throw RestClientError.emptyResponse(status: status) }
    do {
      return try JSONDecoder().decode(type, from: body.withUnsafeBytes { Data($0) })
    } catch {
      let what = (error as? DecodingError).map { DecodingFailure.sentence($0) } ?? "\(error)"
      throw RestClientError.undecodableResponse(message: "the answer cannot be decoded as \(type): \(what)", body: body.text)
    }
  }
}
