import TestSupport
import Testing

/// Random walks whose texts, numbers, keys and ids are awkward, on the three services, up and down, through scripts, patches and
/// files: forms of one character, digits beyond a double, spellings of a number, control characters, halves of characters.
///
/// Every member that is not edited keeps its texts and digits on both sides. In the end soup and server are equal, and a file
/// that was exported changes nothing when it is imported.
///
/// `TUREEN_SCENARIOS` sets the number of walks of each kind, `TUREEN_SEED` the first seed; `scripts/dev/scenarios` sets both.
/// Every failure says how to repeat its walk alone.
@Suite(.timeLimit(.minutes(60))) struct AwkwardScenarioTests {
  /// The number of each kind: 16 in all. `.ci/run` takes more.
  private static let walks = RandomSeed.count("SCENARIOS", usual: 2)

  enum Service: String, CaseIterable, CustomTestStringConvertible {
    case collection, collectionPut, collectionSilent, batch, plain, orgCollection, parse, parseTransaction

    var testDescription: String { rawValue }

    func make() async throws -> any AwkwardService {
      switch self {
      case .collection: try AwkwardCollection(AwkwardCollection.Kind(usesTags: true))
      case .collectionPut: try AwkwardCollection(AwkwardCollection.Kind(putsAll: true, usesTags: true, isPaged: false))
      case .collectionSilent: try AwkwardCollection(AwkwardCollection.Kind(answersRecords: false))
      case .batch: try await AwkwardOrg("batch")
      case .plain: try await AwkwardOrg("plain")
      case .orgCollection: try await AwkwardOrg("collection")
      case .parse: try await AwkwardClass(isTransaction: false)
      case .parseTransaction: try await AwkwardClass(isTransaction: true)
      }
    }
  }

  @Test(arguments: Service.allCases)
  func walks_withAwkwardData_changeOnlyWhatIsEdited(service: Service) async throws {
    let world = try await AwkwardWorld(service.make())
    do {
      for n in 0..<Self.walks {
        let seed = RandomSeed.value &+ UInt64(n)
        let label = "\(service.rawValue), \(RandomSeed.again(Self.self, seed: seed))"
        try await RandomSeed.walk(label) { try await AwkwardScenario(world, seed: seed, label: label).run() }
      }
    } catch {
      await world.close()
      throw error
    }
    await world.close()
  }
}
